"""Train the samples whose saved steps lie here: small causal language models on the bytes of Python's own sources.

    python examples/byte_lm/train.py FOLDER               (examples/byte_lm)
    python examples/byte_lm/train.py FOLDER --million     (examples/byte_lm_million)

Four layers of four heads, d = 64, 128 bytes of context, GPT-2 as ``transformers`` writes it, without dropout.  The text is the
standard library of the Python that runs this, files in the order of their names; every hundredth file is held out.  Saved are
twelve steps, in float16 with nothing left out, and ``training.json``: the text's sha256 and the held-out loss of each *rounded*
model, in nats a byte.  One thread, some ten minutes.  Another Python has another text, and another torch rounds differently:
then the numbers are others, the recipe is the same.

``--million`` is the same with five layers, d = 128: 1.04 million parameters.  Its matrices are saved as 8-bit integers, each
column (of an embedding: row) with a scale in float16, and the products are the model.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import sysconfig
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel

STEPS = (0, 10, 30, 60, 100, 200, 400, 700, 1000, 1500, 2200, 3000)
CONTEXT, RATE, WARMUP, SEED = 128, 2e-3, 100, 0
SMALL = {"n_embd": 64, "n_layer": 4, "n_head": 4}
MILLION = {"n_embd": 128, "n_layer": 5, "n_head": 4}


def texts() -> tuple[np.ndarray, np.ndarray]:
    """The bytes to learn from, and those held out."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(path for path in folder.glob("*.py") if path.stat().st_size > 0)
    parts: tuple[list[bytes], list[bytes]] = ([], [])
    for number, path in enumerate(files):
        parts[number % 100 == 50].append(path.read_bytes())
    learned, held = (np.frombuffer(b"\n".join(each), dtype=np.uint8) for each in parts)
    return learned, held


def windows(text: np.ndarray, starts: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.stack([text[start : start + CONTEXT] for start in starts]).astype(np.int64))


def rate(step: int) -> float:
    """Linear to the top over the first steps, then half a cosine down to a tenth."""
    if step < WARMUP:
        return RATE * (step + 1) / WARMUP
    share = (step - WARMUP) / (STEPS[-1] - WARMUP)
    return RATE * (0.55 + 0.45 * math.cos(math.pi * share))


def in_integers(name: str, matrix: torch.Tensor) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """The matrix as 8-bit integers with scales in float16, and the products."""
    by_rows = name.endswith(("wte.weight", "wpe.weight"))
    scale = (matrix.abs().amax(dim=int(by_rows), keepdim=True) / 127).clamp_min(2.0**-14).half()
    integers = (matrix / scale.float()).round().clamp(-127, 127).to(torch.int8)
    stored = {name: integers, name.removesuffix("weight") + "weight_scale": scale.reshape(-1) if by_rows else scale}
    return stored, integers.float() * scale.float()


def save(model: GPT2LMHeadModel, held: np.ndarray, folder: Path, step: int, integers: bool) -> float:
    """The rounded step, and the held-out loss of exactly the numbers that are stored."""
    weights = {name: value for name, value in model.state_dict().items() if name != "lm_head.weight"}
    stored = {name: value.half() for name, value in weights.items()}
    meant = {name: value.float() for name, value in stored.items()}
    for name, value in weights.items():
        if integers and value.ndim == 2:
            parts, meant[name] = in_integers(name, value)
            stored |= parts
    save_file(stored, folder / f"step{step:05d}.safetensors", metadata={"format": "pt"})
    rounded = GPT2LMHeadModel(model.config).eval()
    rounded.load_state_dict(meant, strict=False)
    rounded.tie_weights()
    batch = windows(held, np.arange(64) * ((len(held) - CONTEXT) // 64))
    with torch.no_grad():
        return float(rounded(batch, labels=batch).loss)


def main(folder: Path, million: bool) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    chance = np.random.default_rng(SEED)
    learned, held = texts()
    config = GPT2Config(
        vocab_size=256,
        n_positions=CONTEXT,
        **(MILLION if million else SMALL),
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.95), weight_decay=0.1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config.to_diff_dict(), indent=1, sort_keys=True) + "\n")
    losses = {}
    for step in range(STEPS[-1] + 1):
        if step in STEPS:
            losses[f"step{step:05d}"] = round(save(model, held, folder, step, million), 4)
            print(step, losses[f"step{step:05d}"], flush=True)
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        batch = windows(learned, chance.integers(0, len(learned) - CONTEXT, 8 if million else 16))
        optimizer.zero_grad(set_to_none=True)
        model(batch, labels=batch).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    told = {
        "text": f"standard library of Python {sys.version.split()[0]}",
        "bytes": len(learned),
        "sha256": hashlib.sha256(learned.tobytes()).hexdigest(),
        "torch": torch.__version__.split("+")[0],
        "parameters": sum(value.numel() for value in model.parameters()),
        "held_out_loss_in_nats_a_byte": losses,
    }
    (folder / "training.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--million" in sys.argv[2:])
