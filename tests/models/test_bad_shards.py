"""Indexes that point outside the folder, links that lead out of it, shards that do not fit: refused in one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file, save_file

from .spoiled import (
    read_all,
    refused,
)


def sharded(folder: Path) -> dict[str, str]:
    """Split the checkpoint in two; returns the weight map."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    halves = {"model-1.safetensors": names[:9], "model-2.safetensors": names[9:]}
    for file, listed in halves.items():
        save_file({n: tensors[n] for n in listed}, folder / file)
    return {n: file for file, listed in halves.items() for n in listed}


def write_index(folder: Path, weight_map: Any) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


def test_a_good_index(folder: Path) -> None:
    write_index(folder, sharded(folder))
    read_all(folder)


@pytest.mark.parametrize(
    "name", ["../model-1.safetensors", "/etc/passwd", "sub/model-1.safetensors", "..", ".", "", "a\\b", "C:x", "a\0b"]
)
def test_shard_names_that_point_outside(folder: Path, name: str) -> None:
    weight_map = sharded(folder)
    shutil.copy(folder / "model-1.safetensors", folder.parent / "model-1.safetensors")
    write_index(folder, {k: name if v == "model-1.safetensors" else v for k, v in weight_map.items()})
    refused(folder, "points outside the folder")


def test_links_that_lead_outside(folder: Path) -> None:
    write_index(folder, sharded(folder))
    outside = folder.parent / "elsewhere.safetensors"
    (folder / "model-1.safetensors").rename(outside)
    (folder / "model-1.safetensors").symlink_to(outside)
    refused(folder, "link that leads outside")
    (folder / "model-1.safetensors").unlink()
    (folder / "model-1.safetensors").symlink_to(folder / "model-1.safetensors")
    refused(folder, "model-1.safetensors")


def test_a_linked_config_or_single_file_that_leads_outside(folder: Path) -> None:
    outside = folder.parent / "secret.json"
    shutil.move(folder / "config.json", outside)
    (folder / "config.json").symlink_to(outside)
    refused(folder, "link that leads outside")
    (folder / "config.json").unlink()
    shutil.copy(outside, folder / "config.json")
    shutil.move(folder / "model.safetensors", folder.parent / "w.safetensors")
    (folder / "model.safetensors").symlink_to(folder.parent / "w.safetensors")
    refused(folder, "link that leads outside")


def test_indexes_that_lie(folder: Path) -> None:
    weight_map = sharded(folder)
    write_index(folder, weight_map | {"extra.weight": "model-1.safetensors"})
    refused(folder, "extra.weight", "not in its shard")
    write_index(folder, weight_map | {"extra.weight": "model-9.safetensors"})
    refused(folder, "model-9.safetensors", "missing")
    for wrong in (None, [], {}, {"a": 3}, "x"):
        write_index(folder, wrong)
        refused(folder, "index.json")
    again = load_file(folder / "model-2.safetensors")
    first = load_file(folder / "model-1.safetensors")
    save_file(again | {"h.0.attn.c_attn.weight": first["h.0.attn.c_attn.weight"]}, folder / "model-2.safetensors")
    write_index(folder, weight_map)
    refused(folder, "duplicate tensors")


def test_several_files_without_an_index(folder: Path) -> None:
    sharded(folder)
    refused(folder, "several checkpoints", "model-1.safetensors", "`eigentoken compare` takes several")
