"""First tests: python -m unittest test_mla. Do not change this file; the real checks are others."""

import unittest

import torch

from mla import RotaryLatentAttention


def make(**sizes):
    torch.manual_seed(0)
    model = RotaryLatentAttention(
        **{"width": 48, "heads": 4, "query_rank": 20, "latent_rank": 16, "rotary_width": 6, **sizes}
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.3 * torch.randn_like(parameter))
    return model


class RotaryLatentAttentionTest(unittest.TestCase):
    def test_shapes(self):
        outputs, cache = make()(torch.randn(2, 7, 48))
        self.assertEqual(tuple(outputs.shape), (2, 7, 48))
        self.assertEqual(tuple(cache.shape), (2, 7, 16 + 6))

    def test_cache_is_raw(self):
        model, x = make(), torch.randn(2, 5, 48)
        torch.testing.assert_close(model(x)[1], x @ model.latent_down)

    def test_causal(self):
        model, x = make(), torch.randn(1, 6, 48)
        other = x.clone()
        other[:, 4:] += 1
        torch.testing.assert_close(model(x)[0][:, :4], model(other)[0][:, :4])

    def test_order_of_tokens_matters(self):
        model, x = make(), torch.randn(1, 6, 48)
        swapped = x[:, [1, 0, 2, 3, 4, 5]]
        self.assertFalse(torch.allclose(model(x)[0][:, -1], model(swapped)[0][:, -1], atol=1e-4))

    def test_cache_is_smaller_than_keys_and_values(self):
        _, cache = make()(torch.randn(1, 8, 48))
        self.assertLess(cache.numel(), 0.75 * 2 * 8 * 48)

    def test_gradients_reach_all_parameters(self):
        model = make()
        model(torch.randn(2, 5, 48))[0].square().sum().backward()
        for name, parameter in model.named_parameters():
            self.assertIsNotNone(parameter.grad, name)

    def test_token_by_token_equals_one_pass(self):
        model, x = make(), torch.randn(2, 9, 48)
        whole, cache, pieces = model(x)[0], None, []
        for place in range(9):
            piece, cache = model(x[:, place : place + 1], cache)
            pieces.append(piece)
        torch.testing.assert_close(torch.cat(pieces, dim=1), whole, atol=1e-4, rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
