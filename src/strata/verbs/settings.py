"""`config`: seed 004's _config.json, shown and changed. Keys are never shown whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strata import config as configuration
from strata.errors import Invalid, NotFound
from strata.files.jsonform import amend_object, write_object
from strata.files.tree import fingerprint
from strata.home import Home

DEFAULTS = {"embedding_provider": "ollama", "openai_api_key": None, "ollama_model": "nomic-embed-text",
            "openai_model": "text-embedding-3-small"}


def change_settings(home: Home, changes: Mapping[str, Any]) -> None:
    """Write the four keys; other keys in the file stay."""
    provider = changes.get("embedding_provider")
    if provider is not None and provider not in configuration.PROVIDERS:
        raise Invalid(f"embedding provider {provider!r} is unknown", f"use one of {', '.join(configuration.PROVIDERS)}")
    new = {key: None if value == "null" else value for key, value in changes.items()}
    try:
        data, _ = home.tree.read("_config.json")
    except NotFound:
        home.tree.write("_config.json", write_object({**DEFAULTS, "embedding_provider": home.config.provider, **new}))
    else:
        before = configuration.seed_config(_root(home))
        home.tree.write("_config.json", amend_object(data, {**before, **new}), fingerprint(data))
    home.config = configuration.load(_root(home))


def show_settings(home: Home) -> dict[str, Any]:
    """What is in force, keys masked."""
    config = home.config
    masked = f"{config.openai_key[:3]}…{config.openai_key[-2:]}" if config.openai_key else None
    return {"home": str(_root(home)), "embedding_provider": config.provider, "openai_api_key": masked,
            "ollama_model": config.ollama_model, "openai_model": config.openai_model, "chat_model": config.chat_model,
            "agent": config.agent, "project": config.project, "projects": list(config.projects),
            "git_commit": config.git_commit}


def _root(home: Home) -> Path:
    return Path(home.tree.root)  # type: ignore[attr-defined]
