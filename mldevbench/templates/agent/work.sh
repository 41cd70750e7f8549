# Asks the model once and writes its answer down: replace this by your own program.
instruction=$(cat)
question=$(INSTRUCTION="$instruction" python3 -c '
import json, os
print(json.dumps({"model": os.environ["MODEL"], "messages": [{"role": "user", "content": os.environ["INSTRUCTION"]}]}))
')
curl --silent --show-error --fail-with-body "$OPENAI_BASE_URL/chat/completions" \
  --header "Authorization: Bearer $OPENAI_API_KEY" --header "Content-Type: application/json" --data "$question"
