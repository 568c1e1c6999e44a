"""The rows of the commands around a home: exchange, servers, agents' settings, the shell."""

from __future__ import annotations

from collections.abc import Mapping

from otolith.verbs.table import EMBEDDERS, FILTERS, FORCE, Door, Param, Verb

MACHINE: Mapping[Door, str] = dict.fromkeys(("python", "mcp", "rest"),
                                            "it concerns the machine, not the memory")
AGENT = Param("agent_name", "text", "which coding agent", doors=("cli",), cli="AGENT",
              choices=("claude-code", "codex", "cursor", "vscode", "gemini", "opencode"))
DRY_RUN = Param("dry_run", "flag", "only show what would change", False, ("cli",))
FOR_PROJECT = Param("project", "flag", "for the project in this folder, not for the user", False, ("cli",))
PORT = Param("port", "count", "which port; 0 takes a free one", 7517, ("cli",))
AT_TERMINAL = tuple(param._replace(doors=("cli",)) for param in FILTERS if "cli" in param.doors)

ROWS = {row.name: row for row in (
    Verb("import", "take over what other systems remember", "facts",
         gaps=MACHINE, long=True,
         options=(Param("source", "file",
                        "a file, a folder or a zip; - reads text with [MEMORY_CANDIDATES] from stdin",
                        doors=("cli",), cli="source"),
                  Param("format", "text", "what it is (default: detected from its contents)", None, ("cli",),
                        cli="--from",
                        choices=("rum", "chatgpt", "claude", "claude-memory", "rlm-mem", "local-memory",
                                 "cognitive-memory", "otolith", "otolith-lines", "claude-code", "codex",
                                 "gemini-cli", "aider", "specstory",
                                 "mcp-memory", "mem0", "candidates", "obsidian")),
                  DRY_RUN._replace(help="only count; nothing is written")),
         examples=("otolith import ~/Downloads/chatgpt.zip --dry-run", "otolith import ~/.claude/projects",
                   "otolith import vault/ --from obsidian")),
    Verb("export", "write the home, or a part of it, into one file", "facts", reads=True,
         gaps=MACHINE, long=True,
         options=(Param("target", "file", "the file to write (.zip, .jsonl or .md); - is stdout",
                        doors=("cli",), cli="target"),
                  Param("format", "text", "the format (default: as the file name says)", None, ("cli",),
                        choices=("zip", "jsonl", "markdown")), FORCE, *AT_TERMINAL),
         examples=("otolith export memory.zip", "otolith export notes.md --kind note --tag redis")),
    Verb("mcp", "serve agents over MCP", "text",
         gaps=MACHINE,
         options=(Param("tools", "text", "which tools to offer", "all", ("cli",), choices=("all", "core")),
                  Param("http", "flag", "streamable HTTP on 127.0.0.1 instead of stdin and stdout", False,
                        ("cli",)), PORT._replace(help="with --http: which port; 0 takes a free one")),
         examples=("otolith mcp", "otolith mcp --tools core", "otolith mcp --http --port 7517")),
    Verb("serve", "open the page, REST and MCP on this machine", "text",
         gaps=MACHINE,
         options=(PORT._replace(default=7518),
                  Param("host", "text", "which address", "127.0.0.1", ("cli",), metavar="ADDRESS"),
                  Param("allow_host", "words", "a further name under which browsers may call this server", (),
                        ("cli",), metavar="NAME[:PORT]"),
                  Param("no_mcp", "flag", "do not offer MCP", False, ("cli",)),
                  Param("link", "flag", "print a fresh sign-in link for a running server", False, ("cli",))),
         examples=("otolith serve", "otolith serve --port 8080", "otolith serve --link")),
    Verb("hook", "answer a coding agent's event", "text",
         gaps=MACHINE,
         options=(Param("event", "text", "the event (default: as the JSON on stdin says)", "", ("cli",),
                        cli="[event]",
                        choices=("SessionStart", "UserPromptSubmit", "PreToolUse", "PreCompact", "Stop",
                                 "SessionEnd")),),
         examples=("otolith hook SessionStart < event.json",)),
    Verb("install", "make a coding agent use this memory", "facts",
         gaps=MACHINE,
         options=(AGENT, DRY_RUN, FOR_PROJECT),
         examples=("otolith install claude-code", "otolith install codex --dry-run",
                   "otolith install cursor --project")),
    Verb("uninstall", "undo install", "facts",
         gaps=MACHINE,
         options=(AGENT, DRY_RUN, FOR_PROJECT),
         examples=("otolith uninstall claude-code",)),
    Verb("config", "show or change settings", "facts",
         gaps=MACHINE,
         options=(Param("provider", "text", "the embedding provider", None, ("cli",),
                        choices=EMBEDDERS),
                  Param("openai_key", "text", "the key; null removes it", None, ("cli",), metavar="KEY",
                        stdin="dash"),
                  Param("ollama_model", "text", "the model to ask Ollama for", None, ("cli",),
                        metavar="NAME"),
                  Param("openai_model", "text", "the model to ask OpenAI for", None, ("cli",),
                        metavar="NAME")),
         examples=("otolith config --provider ollama", "otolith config --openai-key - < key.txt")),
    Verb("completion", "print a tab completion script", "text", reads=True,
         gaps=MACHINE,
         options=(Param("shell", "text", "which shell", doors=("cli",), cli="shell",
                        choices=("bash", "zsh", "fish"), strict=True),),
         examples=("otolith completion bash >> ~/.bash_completion",)),
)}
