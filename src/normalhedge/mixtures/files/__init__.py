"""Files of mixtures: versioned JSON with a checksum, exact to the bit."""

from normalhedge.mixtures.files._saved import (
    Snapshot as Snapshot,
    load as load,
    read_snapshot as read_snapshot,
    read_snapshot_text as read_snapshot_text,
    save as save,
    snapshot_text as snapshot_text,
    write_snapshot as write_snapshot,
)
