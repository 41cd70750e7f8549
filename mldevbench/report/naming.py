"""Names and order of categories and tasks as the paper prints them; others keep their id and come after."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from mldevbench.records import RunRow

CATEGORIES = {
    "dataset_handling": "Dataset Handling",
    "model_training": "Model Training",
    "debugging": "Debugging",
    "model_implementation": "Model Implementation",
    "api_integration": "API Integration",
    "performance": "Performance",
}
TASKS = {
    "dataset_download_noisy_imagenette": "Dataset download - Noisy Imagenette",
    "dataset_download_not_exist": "Dataset download - dataset does not exist",
    "dataset_preprocessing": "Dataset preprocessing",
    "pretrained_torchvision": "Pretrained model download - Torchvision",
    "pretrained_huggingface": "Pretrained model download - Huggingface",
    "vision_finetuning": "Vision finetuning - classification",
    "overfit_small_dataset": "Overfit on small dataset",
    "large_training_logs": "Large training logs",
    "cifar10_training": "CIFAR10 Training",
    "fix_model_and_dataloader": "Fix problems in model and dataloader",
    "forward_shape_mismatch": "Model forward pass - shape mismatches",
    "training_shape_mismatch": "Model Training - shape mismatches",
    "nan_losses": "NaN losses",
    "pretrained_normalization": "Correct norm for pretrained model",
    "tinybert_eval": "TinyBERT Eval",
    "vit_debugging": "ViT debugging",
    "wandb_integration": "Wandb integration",
    "channelvit_easy": "ChannelViT - Easy",
    "channelvit": "ChannelViT",
    "channelvit_no_tests": "ChannelViT - No tests",
    "var_implementation": "VAR implementation",
    "mla": "Multi-head Latent Attention",
    "mla_hidden_tests": "Multi-head Latent Attention - hidden tests",
    "ppo": "Proximal Policy Optimization",
    "improve_cifar10_baseline": "Improve CIFAR-10 baseline - existing model ckpt",
    "noisy_imagenette": "Noisy Imagenette",
    "cifar10_long_tailed": "CIFAR-10 long tailed",
    "segmentation": "Segmentation",
    "boolq": "BoolQ",
    "improve_cifar100_baseline": "CIFAR-100 baseline improvement",
}


def category_name(category: str) -> str:
    return CATEGORIES.get(category, category)


def task_name(task: str) -> str:
    return TASKS.get(task, task)


def categories_in_order(rows: Iterable[RunRow]) -> list[str]:
    present = {row.category for row in rows}
    return [name for name in CATEGORIES if name in present] + sorted(present - set(CATEGORIES))


def tasks_in_order(rows: Iterable[RunRow]) -> list[tuple[str, str]]:
    """Return (task, category): the paper's rows first, then others by category and id."""
    place = {task: number for number, task in enumerate(TASKS)}
    present = {(row.task, row.category) for row in rows}
    return sorted(present, key=lambda pair: (place.get(pair[0], len(place)), pair[1], pair[0]))


def labels_in_order(labels: Iterable[str]) -> list[str]:
    """Return labels by name, the paper's own as it has them."""
    place = {label: number for number, label in enumerate(_published())}
    return sorted(set(labels), key=lambda label: (place.get(label, len(place)), label))


@cache
def _published() -> tuple[str, ...]:
    from mldevbench.reference import paper_rows

    return tuple(dict.fromkeys(row.label for row in paper_rows()))
