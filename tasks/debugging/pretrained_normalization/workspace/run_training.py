"""Train the classifier and show its history. Do not change this file."""

from train import train


def main() -> None:
    metrics = train("data", "pretrained", "run")
    for row in metrics["history"]:
        print(
            f"epoch {row['epoch']:2d}: training loss {row['train_loss']:.3f}, accuracy {row['train_acc']:.1f} %; "
            f"validation loss {row['val_loss']:.3f}, accuracy {row['val_acc']:.1f} %"
        )


if __name__ == "__main__":
    main()
