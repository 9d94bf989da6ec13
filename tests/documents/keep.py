"""keep.sh for tests in Python."""
import os, tempfile


def keep_document(text):
    """A document that jitwarm has printed, which the test `documents` is to validate; returns it."""
    if "TEST_DOCUMENTS" in os.environ:
        with tempfile.NamedTemporaryFile(dir=os.environ["TEST_DOCUMENTS"], suffix=".json", delete=False) as file:
            file.write(text)
    return text
