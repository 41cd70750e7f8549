"""The page: one renderer for the file that `report --html` writes and for what `view` serves."""

from mldevbench.report.page.building import Inside, html_page, policy
from mldevbench.report.page.writing import page_text, write_page

__all__ = ["Inside", "html_page", "page_text", "policy", "write_page"]
