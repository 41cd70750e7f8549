# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
mkdir -p datasets
: > dataset_not_available.txt
entries=""
while read -r path; do
    name=$(basename "$path" .tar)
    want=$(curl -s "$MIRROR_URL/$path.sha256")
    for attempt in 1 2 3 4 5; do
        status=$(curl -s -o "/tmp/$name" -w '%{http_code}' "$MIRROR_URL/$path")
        code=$?
        [ "$status" = 503 ] || break
        sleep 0.3
    done
    got=$(sha256sum "/tmp/$name" | cut -d ' ' -f 1)
    if [ "$status" != 200 ]; then
        incident=$(sed 's/.*"incident": *"\([^"]*\)".*/\1/' "/tmp/$name")
        echo "$name $status $incident" >> dataset_not_available.txt
    elif [ "$code" = 18 ]; then
        echo "$name cut $(stat -c %s "/tmp/$name")" >> dataset_not_available.txt
    elif [ "$got" != "$want" ]; then
        echo "$name damaged $got" >> dataset_not_available.txt
    else
        tar -xf "/tmp/$name" -C datasets
        files=$(ls "datasets/$name" | wc -l)
        entries="$entries${entries:+, }\"$name\": {\"dataset_path\": \"datasets/$name\", \"files\": $files, \"sha256\": \"$got\"}"
    fi
done < addresses.txt
echo "{$entries}" > dataset_info.json
