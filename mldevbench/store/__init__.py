"""The store: a study's folder, in a local folder or any pyarrow filesystem."""

from mldevbench.store.place import Place, open_place
from mldevbench.store.study_store import StudyStore

__all__ = ["Place", "StudyStore", "open_place"]
