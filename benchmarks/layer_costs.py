"""Processor time and peak memory of the check of one layer, by width: what ``check --estimate`` plans with.

python benchmarks/layer_costs.py                 measure 256, 512, 1024 (minutes) and write src/eigentoken/assets/layer_costs.json
python benchmarks/layer_costs.py 2048            add a width, or measure it again (d = 4096 takes a quarter of an hour)

A layer is that of a Llama with heads of width 128, random weights in float16, all statements, one thread, each in a process of
its own; memory is the peak of that process.  Processor time is what counts, so that a busy machine changes little.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TABLE = Path(__file__).resolve().parent.parent / "src" / "eigentoken" / "assets" / "layer_costs.json"
WIDTHS = (256, 512, 1024)
HEAD = 128
ONE = """
import json, resource, sys, time
from eigentoken.checking.layers import layer_record
from eigentoken.models import load
from eigentoken.theory.statements.registry import statements
layer = load(sys.argv[1]).layer(0)
ids = [each.id for each in statements()]
start = time.process_time()
layer_record(layer, ids)
print(json.dumps([time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""


def model(folder: Path, d: int) -> None:
    """One layer of a Llama of width d, weights as a fresh one has them."""
    from safetensors.numpy import save_file

    source = np.random.default_rng(d)
    names = [f"model.layers.0.self_attn.{part}_proj.weight" for part in "qkvo"]
    tensors = {name: (0.02 * source.standard_normal((d, d))).astype(np.float16) for name in names}
    tensors |= {"model.embed_tokens.weight": np.zeros((8, d), np.float16), "model.norm.weight": np.ones(d, np.float16)}
    tensors |= {
        f"model.layers.0.{name}.weight": np.ones(d, np.float16)
        for name in ("input_layernorm", "post_attention_layernorm")
    }
    tensors |= {f"model.layers.0.mlp.{part}_proj.weight": np.zeros((8, d), np.float16) for part in ("gate", "up")}
    tensors["model.layers.0.mlp.down_proj.weight"] = np.zeros((d, 8), np.float16)
    save_file(tensors, folder / "model.safetensors")
    config = {
        "model_type": "llama",
        "hidden_size": d,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": d // HEAD,
        "num_key_value_heads": d // HEAD,
        "rms_norm_eps": 1e-5,
        "vocab_size": 8,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
    }
    (folder / "config.json").write_text(json.dumps(config))


def measured(d: int) -> dict[str, float | int]:
    with tempfile.TemporaryDirectory() as folder:
        model(Path(folder), d)
        printed = subprocess.run([sys.executable, "-c", ONE, folder], capture_output=True, text=True, check=True).stdout
    seconds, peak = json.loads(printed.splitlines()[-1])
    return {"d": d, "heads": d // HEAD, "seconds": round(seconds, 2), "bytes": int(peak)}


def main(arguments: list[str]) -> None:
    known = {each["d"]: each for each in json.loads(TABLE.read_text())["layers"]} if TABLE.is_file() else {}
    for d in [int(each) for each in arguments] or WIDTHS:
        known[d] = measured(d)
        print(known[d], flush=True)
        kept = {"measured by": "benchmarks/layer_costs.py", "layers": [known[each] for each in sorted(known)]}
        TABLE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
