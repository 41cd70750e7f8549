"""Send one random batch through the model. Do not change this file."""

import torch

from classifier_model import ClassifierModel
from settings import CHANNELS, IMAGE_SIZE, NUM_CLASSES


def main() -> None:
    model = ClassifierModel(image_size=IMAGE_SIZE, channels=CHANNELS, num_classes=NUM_CLASSES)
    images = torch.randn(2, 3, IMAGE_SIZE, IMAGE_SIZE)
    logits = model(images)
    if logits.shape != (2, NUM_CLASSES):
        raise SystemExit(f"expected logits of shape (2, {NUM_CLASSES}), got {tuple(logits.shape)}")
    print(f"The model maps {tuple(images.shape)} to {tuple(logits.shape)}.")


if __name__ == "__main__":
    main()
