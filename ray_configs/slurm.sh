#!/usr/bin/env bash
# A Ray cluster inside one Slurm allocation, and a study on it:
#   sbatch ray_configs/slurm.sh --agent react --model openai/gpt-4o --task all --seeds 5 --name my-study
# The same command again goes on with the study: an allocation that ends loses no result.
# On clusters without network on compute nodes, once on a login node: mldevbench assets fetch TASK…, mldevbench agents
# install AGENT…, then add --offline here.
#SBATCH --job-name=mldevbench
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --gpus-per-node=4
#SBATCH --time=24:00:00
#SBATCH --signal=B:TERM@120
set -euo pipefail

checkout=${MLDEVBENCH_CHECKOUT:-$SLURM_SUBMIT_DIR}
storage=${MLDEVBENCH_STORAGE:-$SLURM_SUBMIT_DIR/results}
keys=${MLDEVBENCH_ENV_FILE:-$HOME/.config/mldevbench/keys}
export PATH="$checkout/.venv/bin:$PATH"

# Other users' jobs reach the same network, and the processes of this one share nothing but this file.
run_folder=$(mktemp -d "$SLURM_SUBMIT_DIR/.mldevbench-$SLURM_JOB_ID-XXXXXX")
(umask 077; openssl rand -hex 32 | tr -d '\n' > "$run_folder/token")
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="$run_folder/token" RAY_USAGE_STATS_ENABLED=0
# Ray's sockets bear no long path; keep it on the node's own disk.
export RAY_TMPDIR="/tmp/ray-$SLURM_JOB_ID"

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head_address=$(getent ahostsv4 "${nodes[0]}" | awk 'NR==1 {print $1}')
port=$((20000 + SLURM_JOB_ID % 10000))   # outside the range that Ray's workers take
gpus=${SLURM_GPUS_ON_NODE:-0}

start() {  # node, then what makes it a head or a worker
    local node=$1
    shift
    srun --nodes=1 --ntasks=1 --overlap --nodelist="$node" \
        bash -c 'mkdir -p "$RAY_TMPDIR" && exec ray start --block --disable-usage-stats "$@"' ray-start \
        --num-cpus="${SLURM_CPUS_ON_NODE:-1}" --num-gpus="$gpus" "$@" &
}

start "${nodes[0]}" --head --node-ip-address="$head_address" --port="$port" --include-dashboard=false
for _ in $(seq 120); do
    ray status --address "$head_address:$port" >/dev/null 2>&1 && break
    sleep 1
done
for node in "${nodes[@]:1}"; do start "$node" --address="$head_address:$port"; done

options=(--address "$head_address:$port" --storage "$storage" --scratch "${SLURM_TMPDIR:-/tmp}")
[ -f "$keys" ] && options+=(--env-file "$keys")
# Two minutes before the end Slurm sends TERM: the driver ends in order, and what is finished stays.
told=0 driver=
trap 'told=1; [ -z "$driver" ] || kill -TERM "$driver" 2>/dev/null' TERM
mldevbench run "${options[@]}" "$@" &
driver=$!
set +e
wait "$driver"
code=$?
if [ "$told" = 1 ]; then  # the signal ended our waiting, not the driver
    wait "$driver"
    again=$?
    [ "$again" = 127 ] || code=$again
fi
rm -rf "$run_folder"
jobs -p | xargs -r kill 2>/dev/null
exit "$code"
