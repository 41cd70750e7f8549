"""First tests: python -m unittest test_lora. Do not change this file; the real checks are others."""

import unittest

import torch

from lora import LoRALinear


class LoRALinearTest(unittest.TestCase):
    def test_parameters(self):
        layer = LoRALinear(10, 6, rank=2)
        trainable = {name: tuple(value.shape) for name, value in layer.named_parameters() if value.requires_grad}
        self.assertEqual(trainable, {"lora_A": (2, 10), "lora_B": (6, 2)})

    def test_starts_as_the_base_layer(self):
        layer, x = LoRALinear(10, 6), torch.randn(4, 10)
        torch.testing.assert_close(layer(x), layer.linear(x))

    def test_any_leading_dimensions(self):
        layer = LoRALinear(10, 6, bias=False)
        for shape in ((10,), (3, 10), (2, 3, 10)):
            self.assertEqual(tuple(layer(torch.randn(shape)).shape), (*shape[:-1], 6))

    def test_merged_gives_the_same(self):
        layer, x = LoRALinear(10, 6), torch.randn(4, 10)
        torch.nn.init.normal_(layer.lora_B)
        before, weight = layer(x), layer.linear.weight.clone()
        layer.merge()
        torch.testing.assert_close(layer(x), before, atol=1e-4, rtol=1e-4)
        layer.unmerge()
        torch.testing.assert_close(layer.linear.weight, weight, atol=1e-4, rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
