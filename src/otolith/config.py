"""Configuration: alone reads settings files and the environment.

Flag > OTOLITH_* > the user's config.toml > the home's _config.json (seed 004's four keys) > the home's otolith.toml > defaults.
Addresses and keys come from the user's side only: a foreign home can name a provider and a model, never a server.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from otolith.errors import Conflict, Invalid
from otolith.model.record import Finding
from otolith.model.shape import NOTHING, Value

MAX_BYTES = 4 * 1024 * 1024
GIT_COMMIT = ("off", "upkeep", "session")
PROVIDERS = ("static", "minilm", "ollama", "openai", "none")
SEED_KEYS = ("embedding_provider", "openai_api_key", "ollama_model", "openai_model")


def _xdg(variable: str, fallback: str, env: Mapping[str, str]) -> Path:
    base = env.get(variable)
    return Path(base) if base and os.path.isabs(base) else Path(env.get("HOME") or os.path.expanduser("~")) / fallback


def data_folder(env: Mapping[str, str] = os.environ) -> Path:
    return _xdg("XDG_DATA_HOME", ".local/share", env) / "otolith"


def config_folder(env: Mapping[str, str] = os.environ) -> Path:
    return _xdg("XDG_CONFIG_HOME", ".config", env) / "otolith"


def systemd_folder(env: Mapping[str, str] = os.environ) -> Path:
    return _xdg("XDG_CONFIG_HOME", ".config", env) / "systemd" / "user"


def cache_folder(env: Mapping[str, str] = os.environ) -> Path:
    return _xdg("XDG_CACHE_HOME", ".cache", env) / "otolith"


def home_path(flag: str | None = None, env: Mapping[str, str] = os.environ) -> Path:
    """Which home: the flag, else OTOLITH_HOME, else the user's data folder."""
    return Path(flag or env.get("OTOLITH_HOME") or data_folder(env)).expanduser().absolute()


def machine_id(env: Mapping[str, str] = os.environ) -> str:
    """Eight hex digits that tell this machine's logs from another's; made once."""
    path = config_folder(env) / "machine"
    try:
        known = path.read_text().strip()
        if len(known) == 8:
            return known
    except OSError:
        pass
    fresh = os.urandom(4).hex()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(fresh + "\n")
    except FileExistsError:
        return path.read_text().strip() or fresh
    except OSError:
        return "00000000"
    return fresh


class Config(Value):
    """What is configured for one home; read once when it is opened."""

    provider: str = "static"
    ollama_model: str = "nomic-embed-text"
    openai_model: str = "text-embedding-3-small"
    ollama_url: str = "http://localhost:11434"
    openai_url: str = "https://api.openai.com/v1"
    openai_key: str | None = None
    chat_url: str | None = None
    chat_model: str | None = None
    chat_key: str | None = None
    chat_seconds: float = 60.0
    agent: str = "main"
    project: str = "default"
    session: str | None = None
    projects: tuple[str, ...] = ()
    language: str = "english"
    home_id: str = ""
    git_commit: str = "off"
    caps: Mapping[str, Any] = NOTHING
    tiers: Mapping[str, Any] = NOTHING
    settings: Mapping[str, Any] = NOTHING  # everything of otolith.toml, for what is rarely asked
    flaws: tuple[Finding, ...] = ()  # values of the home that mean nothing; the default counts instead


def load(home: Path, env: Mapping[str, str] = os.environ, cwd: str | None = None) -> Config:
    """The settings in force for a home."""
    tracked = _toml(home / "otolith.toml")
    if not tracked and os.path.lexists(home / "strata.toml") and not os.path.lexists(home / "otolith.toml"):
        raise Invalid("this home's settings are in strata.toml, a name of before 0.2", "rename that file to otolith.toml")
    seed = seed_config(home)
    user = _toml(config_folder(env) / "config.toml", follow=True)
    embedding, chat = user.get("embedding", {}), user.get("chat", {})
    flaws: list[Finding] = []
    own = _known(_seed_provider(home, seed) or "static", PROVIDERS, "_config.json", "embedding_provider", flaws)
    commits = _known(tracked.get("git_commit", "off"), GIT_COMMIT, "otolith.toml", "git_commit", flaws)
    provider = env.get("OTOLITH_PROVIDER") or embedding.get("provider") or own
    if provider not in PROVIDERS:
        raise Invalid(f"embedding provider {provider!r} is unknown", f"use one of {', '.join(PROVIDERS)}")
    own_key = env.get("OTOLITH_OPENAI_KEY") or env.get("OPENAI_API_KEY") or embedding.get("openai_key")
    openai_url = env.get("OTOLITH_OPENAI_URL") or embedding.get("openai_url")
    home_key = _home_key(home, seed) if own_key is None and openai_url is None else None
    return Config(
        provider=provider, openai_key=own_key or home_key, openai_url=openai_url or Config.openai_url,
        ollama_url=env.get("OTOLITH_OLLAMA_URL") or embedding.get("ollama_url") or Config.ollama_url,
        ollama_model=embedding.get("ollama_model") or seed.get("ollama_model") or Config.ollama_model,
        openai_model=embedding.get("openai_model") or seed.get("openai_model") or Config.openai_model,
        chat_url=env.get("OTOLITH_CHAT_URL") or chat.get("url"), chat_model=env.get("OTOLITH_CHAT_MODEL") or chat.get("model"),
        chat_key=env.get("OTOLITH_CHAT_KEY") or chat.get("key"),
        chat_seconds=_seconds(env.get("OTOLITH_CHAT_SECONDS") or chat.get("seconds")),
        agent=env.get("OTOLITH_AGENT") or user.get("agent") or "main",
        project=env.get("OTOLITH_PROJECT") or _git_project(cwd) or "default",
        session=env.get("OTOLITH_SESSION") or None, projects=_words(tracked, "projects"),
        language=tracked.get("language", "english"), home_id=str(tracked.get("home_id", "")),
        git_commit=commits, caps=tracked.get("caps", {}), tiers=tracked.get("tiers", {}),
        settings=tracked, flaws=tuple(flaws),
    )


def _known(value: Any, options: tuple[str, ...], path: str, key: str, flaws: list[Finding]) -> str:
    """A home's value if it is one of these, else the first of them: one wrong word locks nobody out of a home."""
    if value in options:
        return str(value)
    flaws.append(Finding(path, None, "settings", f"{key} {value!r} is unknown; {options[0]} counts instead",
                         f"use one of {', '.join(options)}"))
    return options[0]


GITIGNORE = """_state.json
_index.json
_embeddings.json
_config.json
.lock
log/
index/*.json
*.tmp
"""
GITATTRIBUTES = """*.jsonl merge=union
index/audit.log merge=union
episodes/*.md merge=union
"""


def settle(tree: Any, new_id: Callable[[], str]) -> tuple[str, list[str]]:
    """(the home's id, the files made): a home's own files, where they are missing; its id is the one it has, or a fresh one.

    Settings that a person wrote without an id get it as their first line.
    """
    made = []
    with tree.lock():
        if tree.look("otolith.toml") is None:
            line = f'# Settings that belong to this home; see FORMAT.md.\nhome_id = "{_dashed(new_id())}"\n'
            tree.write("otolith.toml", f'{line}projects = []\ngit_commit = "off"\n'.encode())
            made.append("otolith.toml")
        data, _ = tree.read("otolith.toml")
        home_id = str(_parsed(data.decode(errors="replace"), "otolith.toml").get("home_id") or "")
        if not home_id:
            home_id = _dashed(new_id())
            tree.write("otolith.toml", f'home_id = "{home_id}"\n'.encode() + data, hashlib.sha256(data).hexdigest())
        for path, text in ((".gitignore", GITIGNORE), (".gitattributes", GITATTRIBUTES)):
            if tree.look(path) is None:
                with suppress(Conflict):  # something that is no plain file stands there
                    tree.write(path, text.encode())
                    made.append(path)
    return home_id, made


def _dashed(digits: str) -> str:
    """A UUID as it is written, from its 32 digits."""
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _text(path: Path, *, follow: bool = False) -> str | None:
    """A settings file; a home's own must be a plain file, or a stranger's home could make us wait, or read something else."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError("it is not a plain file")
            return file.read(MAX_BYTES).decode("utf-8")
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise Invalid(f"{path.parent} is not a folder", "name a folder, or move the file away") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{path.name} cannot be read: {error}", "mend it or move it away") from None


def _seconds(value: Any) -> float:
    try:
        return float(value) if value else Config.chat_seconds
    except (TypeError, ValueError):
        raise Invalid(f"chat seconds must be a number; got {value!r}") from None


def _toml(path: Path, *, follow: bool = False) -> dict[str, Any]:
    text = _text(path, follow=follow)
    return {} if text is None else _parsed(text, path.name)


def _parsed(text: str, name: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"{name} cannot be read: {error}", "mend it or move it away") from None


def seed_config(home: Path) -> dict[str, Any]:
    """Seed 004's _config.json as it stands; empty if there is none."""
    text = _text(home / "_config.json")
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"_config.json cannot be read: {error}", "mend it or move it away") from None
    if not isinstance(found, dict):
        raise Invalid("_config.json must be an object", "mend it or move it away")
    return found


def _words(settings: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = settings.get(key, [])
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise Invalid(f"{key} in otolith.toml must be a list of words", f'write {key} = ["one", "two"]')
    return tuple(found)


def _seed_provider(home: Path, seed: Mapping[str, Any]) -> str | None:
    """The seed's default is ollama; without any _config.json it is ours."""
    if not seed and not (home / "_config.json").exists():
        return None
    return str(seed.get("embedding_provider") or "ollama")


def _home_key(home: Path, seed: Mapping[str, Any]) -> str | None:
    """A key kept in the home counts only if nobody else could have put it there."""
    key = seed.get("openai_api_key")
    if not isinstance(key, str):
        return None
    found = (home / "_config.json").stat()
    private = stat.S_IMODE(found.st_mode) == 0o600 and found.st_uid == os.getuid()
    return key if private else None


def _git_project(start: str | None) -> str | None:
    try:
        here = Path(start or os.getcwd())
    except FileNotFoundError:  # the folder one stands in was removed
        return None
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return folder.name or None
    return None
