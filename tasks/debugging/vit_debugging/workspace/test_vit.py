"""First tests: python -m unittest test_vit. Do not change this file; the real checks are others."""

import unittest

import torch


class VisionTransformerTest(unittest.TestCase):
    def make(self, **sizes):
        from tiny_vit import VisionTransformer

        torch.manual_seed(0)
        return VisionTransformer(**{"image_size": 32, "patch_size": 8, "width": 48, "depth": 2, "heads": 4, **sizes})

    def test_tokens_by_kind(self):
        made = self.make(registers=2)(torch.randn(3, 3, 32, 32))
        shapes = {name: tuple(value.shape) for name, value in made.items()}
        right = {"class": (3, 48), "registers": (3, 2, 48), "patches": (3, 16, 48), "before_norm": (3, 19, 48)}
        self.assertEqual(shapes, right)

    def test_gated_network(self):
        made = self.make(feed_forward="gated")(torch.randn(1, 3, 32, 32))
        self.assertEqual(tuple(made["patches"].shape), (1, 16, 48))

    def test_patch_sizes(self):
        for patch_size, patches in ((4, 64), (8, 16), (16, 4), ((4, 8), 32)):
            made = self.make(patch_size=patch_size)(torch.randn(1, 3, 32, 32))
            self.assertEqual(made["patches"].shape[1], patches)

    def test_larger_picture(self):
        made = self.make()(torch.randn(2, 3, 48, 48))
        self.assertEqual(made["patches"].shape[1], 36)

    def test_masks(self):
        model, images = self.make(), torch.randn(2, 3, 32, 32)
        masks = torch.zeros(2, 16, dtype=torch.bool)
        masks[:, :5] = True
        self.assertFalse(torch.allclose(model(images)["patches"], model(images, masks)["patches"]))

    def test_intermediate_layers(self):
        model, images = self.make(depth=3, registers=1), torch.randn(2, 3, 32, 32)
        for patches, first in model.intermediate_layers(images, count=2, as_maps=True, with_class=True):
            self.assertEqual(tuple(patches.shape), (2, 48, 4, 4))
            self.assertEqual(tuple(first.shape), (2, 48))

    def test_patch_size_at_call_time(self):
        model, images = self.make(registers=1), torch.randn(2, 3, 32, 32)
        for patch_size, patches in ((4, 64), (16, 4)):
            made = model(images, patch_size=patch_size)
            self.assertEqual(made["patches"].shape[1], patches)
            (maps,) = model.intermediate_layers(images, as_maps=True, patch_size=patch_size)
            self.assertEqual(maps.shape[2] * maps.shape[3], patches)


if __name__ == "__main__":
    unittest.main()
