"""First tests: python -m unittest test_var. Do not change this file; the real checks are others."""

import unittest

import torch

from var import VAR


def make(**sizes):
    torch.manual_seed(0)
    given = {"scales": (1, 2, 4), "classes": 5, "codes": 64, "code_width": 8, "width": 48, "depth": 2, "heads": 4}
    return VAR(**{**given, **sizes}).eval()


class VARTest(unittest.TestCase):
    def test_logits(self):
        logits = make()(torch.tensor([0, 4]), torch.randn(2, 20, 8))
        self.assertEqual(tuple(logits.shape), (2, 21, 64))

    def test_two_stages(self):
        model, tokens = make(), torch.randn(2, 20, 8)
        logits = model(torch.tensor([0, 4]), tokens, stages=2)
        self.assertEqual(tuple(logits.shape), (2, 5, 64))
        torch.testing.assert_close(logits, model(torch.tensor([0, 4]), tokens)[:, :5], atol=1e-4, rtol=1e-4)

    def test_wrong_numbers(self):
        model, tokens = make(), torch.randn(1, 20, 8)
        for label, stages in ((5, 1), (-1, 1), (0, 0), (0, 4)):
            with self.assertRaises(IndexError):
                model(torch.tensor([label]), tokens, stages=stages)

    def test_pictures(self):
        pictures, codes = make().sample(torch.tensor([0, 3]))
        self.assertEqual((tuple(pictures.shape), tuple(codes.shape)), ((2, 3, 16, 16), (2, 21)))
        self.assertTrue(bool(((pictures >= 0) & (pictures <= 1)).all()))
        self.assertGreater(float(pictures.std()), 0.01)


if __name__ == "__main__":
    unittest.main()
