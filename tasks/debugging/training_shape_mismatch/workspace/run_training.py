"""Train for two epochs and show what came of it. Do not change this file."""

import torch

from train import train


def main() -> None:
    model, metrics = train("data", epochs=2)
    model.eval()
    with torch.no_grad():
        scores = model(torch.zeros(3, 3, 32, 32))
    assert scores.shape == (3, 10), scores.shape
    for row in metrics["history"]:
        print(
            f"epoch {row['epoch']}: training loss {row['train_loss']:.3f}, accuracy {row['train_acc']:.1f} %; "
            f"validation loss {row['val_loss']:.3f}, accuracy {row['val_acc']:.1f} %"
        )
    print(f"best validation accuracy {metrics['best_val_acc']:.1f} %")


if __name__ == "__main__":
    main()
