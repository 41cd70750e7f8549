"""First tests: python -m unittest test_channel_vit. Do not change this file; the real checks are others."""

import unittest

import torch

from channel_vit import ChannelPatchEmbedding, ChannelViT


def make(**sizes):
    torch.manual_seed(0)
    model = ChannelViT(
        **{"image_size": 32, "patch_size": 8, "channels": 5, "width": 48, "depth": 2, "heads": 4, **sizes}
    )
    return model.eval()


class ChannelViTTest(unittest.TestCase):
    def test_parameters(self):
        embedding = ChannelPatchEmbedding(8, 5, 48)
        self.assertEqual(sum(value.numel() for value in embedding.parameters()), 48 * (8 * 8 + 1) + 5 * 48)
        self.assertEqual(tuple(make().positions.shape), (1, 17, 48))

    def test_all_channels(self):
        self.assertEqual(tuple(make()(torch.randn(3, 5, 32, 32)).shape), (3, 1 + 5 * 16, 48))

    def test_all_channels_by_index(self):
        model, images = make(), torch.randn(2, 5, 32, 32)
        torch.testing.assert_close(model(images), model(images, torch.arange(5).expand(2, -1)))

    def test_subsets(self):
        indices = torch.tensor([[0, 2, 4], [3, 1, 0]])
        self.assertEqual(tuple(make()(torch.randn(2, 3, 32, 32), indices).shape), (2, 1 + 3 * 16, 48))

    def test_same_pixels_other_channels(self):
        model, images = make(), torch.randn(1, 2, 32, 32)
        one, other = model(images, torch.tensor([[0, 1]])), model(images, torch.tensor([[2, 3]]))
        self.assertFalse(torch.allclose(one, other, atol=1e-4))

    def test_samples_choose_for_themselves(self):
        model, images = make(), torch.randn(1, 2, 32, 32).repeat(2, 1, 1, 1)
        both = model(images, torch.tensor([[0, 1], [2, 3]]))
        self.assertFalse(torch.allclose(both[0], both[1], atol=1e-4))


if __name__ == "__main__":
    unittest.main()
