"""Owns backups: every collection as BSON with its metadata, in the layout of mongodump's directories, and back."""

from brimline.dataset.backup.read import BackupProgress, Stopped, require_readable, write_backup
from brimline.dataset.backup.restore import Restored, restore_backup, restore_document
from brimline.dataset.backup.summary import Backup, CollectionBackup, backup_document, read_summary

__all__ = [
    "Backup",
    "BackupProgress",
    "CollectionBackup",
    "Restored",
    "Stopped",
    "backup_document",
    "read_summary",
    "require_readable",
    "restore_backup",
    "restore_document",
    "write_backup",
]
