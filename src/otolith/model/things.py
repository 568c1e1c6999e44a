"""What kind of thing a name is, so that an editor gives way to an editor and not to a database.

Names of tools are the same in every language; of some kinds one has one at a time. This module knows no rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


def table_of(text: str) -> dict[str, str]:
    """`home: live in, reside in` on each line, long ones indented on the next → {"live in": "home", …}."""
    pairs = (line.split(":", 1) for line in text.strip().replace("\n  ", " ").splitlines())
    return {key.strip(): name.strip() for name, keys in pairs for key in keys.split(",")}


class Things(NamedTuple):
    """Names of things by kind; of an exclusive kind one has one at a time."""

    kinds: Mapping[str, str]
    exclusive: frozenset[str]
    alone: frozenset[str]  # kinds whose names are common words: they count only where they stand alone

    def kind_of(self, words: Iterable[str]) -> str:
        """The kind of thing that some words name, the longest name first; "" if it is not known."""
        given = list(words)
        listed = [word.casefold() for word in given]
        if kind := self.kinds.get(" ".join(listed)):
            return kind
        for length in (3, 2, 1):
            for at in range(len(listed) - length + 1):
                kind = self.kinds.get(" ".join(listed[at : at + length]))
                beside = [*given[max(0, at - 1) : at], *given[at + length : at + length + 1]]
                if kind and kind not in self.alone and not any(word[:1].isupper() for word in beside if at
                                                               or word is not given[0]):
                    return kind
        return ""


_THINGS = table_of("""
editor: vim, neovim, nvim, emacs, vs code, vscode, visual studio code, sublime, sublime text, atom, nano,
  pycharm, intellij, jetbrains, webstorm, zed, helix, cursor, notepad, eclipse, xcode, kate
package manager: npm, pnpm, yarn, bun, pip, poetry, uv, pipenv, conda, cargo, maven, gradle, bundler,
  composer
database: postgres, postgresql, mysql, mariadb, sqlite, mongodb, mongo, oracle, mssql, sql server,
  dynamodb, cassandra, couchdb, cockroachdb, duckdb, clickhouse, firestore, supabase, neo4j
cache: redis, memcached, valkey
queue: kafka, rabbitmq, sqs, nats, celery, pulsar, zeromq, sidekiq, pubsub
search engine: elasticsearch, opensearch, solr, meilisearch, typesense, algolia
version control: git, mercurial, svn, subversion, perforce
code host: github, gitlab, bitbucket, gitea, codeberg, forgejo, sourcehut
ci: jenkins, github actions, gitlab ci, circleci, travis, travis ci, buildkite, teamcity, drone, azure
  pipelines
cloud: aws, azure, gcp, google cloud, heroku, fly.io, fly, render, vercel, netlify, hetzner, digitalocean,
  linode, ovh, cloudflare, railway, scaleway, on-prem
test runner: pytest, nose, unittest, jest, vitest, mocha, jasmine, karma, rspec, junit, tox, nox, cypress,
  playwright, selenium
linter: ruff, flake8, pylint, eslint, biome, rubocop
formatter: black, prettier, yapf, autopep8, gofmt
bundler: webpack, vite, rollup, parcel, esbuild, turbopack
frontend framework: react, vue, svelte, angular, ember, solid, htmx, nextjs, next.js, nuxt, remix, jquery
web framework: django, flask, fastapi, rails, laravel, express, spring, phoenix, nestjs, starlette,
  symfony, koa
api style: rest, graphql, grpc, soap, http, json-rpc, websockets, trpc
programming language: python, ruby, go, golang, rust, java, kotlin, scala, elixir, typescript, javascript,
  php, perl, haskell, c++, c#, swift, clojure, erlang, lua, zig, ocaml, f#, dart
container tool: docker, podman, containerd
orchestrator: kubernetes, nomad, swarm, docker swarm, ecs, mesos
infrastructure tool: terraform, ansible, puppet, chef, pulumi, saltstack, cloudformation
tracker: jira, linear, trello, asana, bugzilla, redmine, youtrack, github issues, clickup, basecamp,
  shortcut, notion board
reverse proxy: nginx, caddy, traefik, haproxy
password manager: 1password, bitwarden, keepass, lastpass, vault
docs generator: sphinx, mkdocs, docusaurus, jekyll, hugo, gitbook
analytics: matomo, plausible, google analytics, umami, fathom, posthog
backup tool: borg, restic, duplicity, kopia, time machine
chat: signal, whatsapp, telegram, threema, slack, teams, microsoft teams, discord, mattermost, zulip, irc
mail service: sendgrid, mailgun, postmark, ses, mailchimp, sparkpost
mail client: outlook, thunderbird, gmail, apple mail, protonmail, fastmail
payment service: stripe, paypal, adyen, braintree, mollie, square
browser: chrome, firefox, safari, edge, brave, opera, vivaldi, arc
shell: bash, zsh, fish, powershell, nushell
terminal: iterm, alacritty, kitty, wezterm, ghostty, tmux
desktop system: windows, linux, macos, ubuntu, fedora, debian, arch, mint, mac
phone: iphone, android, pixel, samsung, galaxy, fairphone, oneplus, nokia phone
notes app: notion, obsidian, evernote, onenote, logseq, roam, apple notes, bear, joplin
music service: spotify, tidal, apple music, deezer, youtube music
monitoring: datadog, grafana, prometheus, new relic, sentry, zabbix, nagios, honeycomb
logging: loki, splunk, logstash, fluentd, graylog
indentation: tabs, spaces, tab, space
theme: dark mode, light mode, dark theme, light theme, dark, light
length: short answers, long answers, brief answers, detailed answers, concise answers, verbose answers,
  short, long, brief, concise, detailed, verbose, terse
quotes: single quotes, double quotes
case: snake_case, camelcase, kebab-case, pascalcase, snake case, camel case, kebab case
license: mit, apache, apache-2.0, apache 2.0, gpl, gplv3, bsd, mpl, agpl, lgpl, mit license, gpl license
branching: merge commits, rebase, squash, squash merges, squash merging, rebasing, trunk based development,
  feature branches
diet: vegan, vegetarian, pescatarian, omnivore, keto, meat eater
marital status: married, single, divorced, engaged, widowed, separated
work status: employed, unemployed, retired, self-employed, freelance, freelancer, student, freelancing
work mode: remote, remotely, hybrid, on-site, onsite, from home, in the office, in person
switch: enabled, disabled, on, off, active, inactive
access: public, private, open source, closed source, proprietary, open, closed
state: done, blocked, in progress, on hold, paused, finished, deprecated, experimental, stable, beta,
  alpha, archived, frozen, broken, fixed, red, green, down, up, live, offline, online, mandatory, optional,
  required, read-only, cancelled, released, unreleased, merged, approved, rejected
hand: left-handed, right-handed
units: metric, imperial, celsius, fahrenheit, kilometres, miles
clock: 24-hour, 12-hour, 24-hour clock, 12-hour clock
""")
_EXCLUSIVE = """
    editor, package manager, database, version control, code host, ci, cloud, test runner, linter,
    formatter, bundler, frontend framework, web framework, api style, container tool, orchestrator,
    infrastructure tool, tracker, mail service, mail client, payment service, browser, shell, desktop
    system, phone, notes app, music service, indentation, theme, length, quotes, case, license,
    branching, diet, marital status, work status, work mode, switch, access, state, hand, units, clock,
    programming language, search engine, queue, chat, reverse proxy, password manager, docs generator,
    analytics, backup tool"""
KINDS_OF_THINGS = Things(
    _THINGS, frozenset(" ".join(kind.split()) for kind in _EXCLUSIVE.split(",")),
    frozenset(("switch", "state", "access", "work mode", "theme", "length", "units")))
