"""What secrets look like: tables, no code.

`PREFIXES` are tokens that begin with a vendor's own mark, `FORMS` those of another shape, `PLACES` where the
words around a value say that it is one. Each row names its source, the vendor's or program's documentation by
name. A row's clues are literals of which one stands in every match: a pattern is compiled and run only where
a clue is in the text. Runs are bounded, so that time grows with the length of the text and nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

WORD, URL, HEX, BASE = "[A-Za-z0-9]", "[A-Za-z0-9_-]", "[0-9a-fA-F]", "[A-Za-z0-9+/=_-]"
DOTS = "[A-Za-z0-9._~+/=-]"


class Prefix(NamedTuple):
    """A token: one of the prefixes, then a run of an alphabet."""

    kind: str
    prefixes: str
    alphabet: str
    least: int
    most: int = 255


class Form(NamedTuple):
    """A pattern whose group 1, where there is one, is the secret, otherwise the whole match."""

    kind: str
    clues: str
    pattern: str
    test: str = "varied"


PREFIXES = (
    # Clouds, hosting, infrastructure
    Prefix("aws-key", "ABSK", BASE, 100, 300),  # Amazon Bedrock, API keys
    Prefix("google-key", "AIza", URL, 35, 45),  # Google Cloud, API keys
    Prefix("google-token", "ya29.", DOTS, 20, 2000),  # Google Identity, OAuth 2.0 access tokens
    Prefix("google-token", "1//0", URL, 30, 300),  # Google Identity, OAuth 2.0 refresh tokens
    Prefix("google-secret", "GOCSPX-", URL, 24, 60),  # Google Identity, OAuth client secrets
    Prefix("alibaba-key", "LTAI", WORD, 12, 30),  # Alibaba Cloud, AccessKey
    Prefix("tencent-key", "AKID", WORD, 32, 60),  # Tencent Cloud, CAM keys
    Prefix("yandex-key", "AQVN y0_ t1.9eu", URL, 32, 400),  # Yandex Cloud, API keys and IAM tokens
    Prefix("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", HEX, 40, 80),  # DigitalOcean, API tokens
    Prefix("heroku-key", "HRKU-", URL, 30, 80),  # Heroku, API tokens
    Prefix("fly-token", "fo1_ fm1r_ fm1a_ fm2_", BASE, 30, 4000),  # Fly.io, access tokens
    Prefix("cloudflare-token", "cfut_ cfat_ v1.0-", URL, 40, 250),  # Cloudflare, API tokens, origin CA keys
    Prefix("vercel-token", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", URL, 24, 120),  # Vercel, tokens
    Prefix("netlify-token", "nfp_ nfc_ nfo_", WORD, 30, 60),  # Netlify, access tokens
    Prefix("render-key", "rnd_", WORD, 24, 60),  # Render, API keys
    Prefix("supabase-key", "sbp_ sb_secret_", URL, 24, 100),  # Supabase, access tokens and secret keys
    Prefix("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", DOTS, 30, 80),  # PlanetScale
    Prefix("neon-key", "napi_", WORD, 40, 100),  # Neon, API keys
    Prefix("databricks-token", "dapi dkea dose", HEX, 32, 40),  # Databricks, personal access tokens
    Prefix("vault-token", "hvs. hvb. hvr.", URL, 24, 300),  # HashiCorp Vault, tokens
    Prefix("doppler-token", "dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", WORD, 36, 60),  # Doppler, tokens
    Prefix("pulumi-token", "pul-", HEX, 40, 50),  # Pulumi Cloud, access tokens
    Prefix("tailscale-key", "tskey-auth- tskey-api- tskey-client- tskey-scim-", URL, 16, 100),  # Tailscale
    Prefix("onepassword-token", "ops_eyJ", BASE, 100, 4000),  # 1Password, service accounts
    Prefix("infracost-key", "ico-", WORD, 32, 40),  # Infracost
    Prefix("prefect-key", "pnu_ pnb_", WORD, 36, 40),  # Prefect Cloud
    Prefix("openshift-token", "sha256~", URL, 40, 60),  # OpenShift, OAuth access tokens
    Prefix("octopus-key", "API-", "[A-Z0-9]", 26, 40),  # Octopus Deploy
    # Code, packages, builds
    Prefix("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", WORD, 30),  # GitHub, authentication tokens
    Prefix("github-token", "github_pat_", "[A-Za-z0-9_]", 22),  # GitHub, fine-grained tokens
    Prefix("gitlab-token", "glpat- glrt- gldt- glptt- glft- glsoat- glcbt- glagent- glimt- gloas- glffct-",
           "[A-Za-z0-9._-]", 20, 320),  # GitLab, token overview
    Prefix("gitlab-token", "GR1348941", URL, 20, 64),  # GitLab, runner registration
    Prefix("bitbucket-token", "ATBB", WORD, 28, 40),  # Bitbucket Cloud, app passwords
    Prefix("atlassian-token", "ATATT3 ATCTT3 ATSTT3 ATTA", BASE, 50, 400),  # Atlassian account, API tokens
    Prefix("npm-token", "npm_", WORD, 36, 60),  # npm, access tokens
    Prefix("pypi-token", "pypi-AgE", URL, 50, 1000),  # PyPI, API tokens
    Prefix("rubygems-key", "rubygems_", HEX, 40, 60),  # RubyGems, API keys
    Prefix("crates-token", "cio", WORD, 32, 34),  # crates.io, API tokens
    Prefix("nuget-key", "oy2", "[a-z0-9]", 43, 43),  # NuGet, API keys
    Prefix("clojars-token", "CLOJARS_", "[a-z0-9]", 50, 70),  # Clojars, deploy tokens
    Prefix("docker-token", "dckr_pat_ dckr_oat_", URL, 24, 80),  # Docker Hub, access tokens
    Prefix("jfrog-key", "AKCp", WORD, 60, 90),  # JFrog Artifactory, API keys
    Prefix("circleci-token", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]", 40, 80),  # CircleCI, API tokens
    Prefix("buildkite-token", "bkua_ bkaj_ bkct_", HEX, 36, 60),  # Buildkite, API access tokens
    Prefix("sonar-token", "sqp_ squ_ sqa_", HEX, 36, 50),  # SonarQube, tokens
    Prefix("sourcegraph-token", "sgp_", "[0-9a-f_]", 40, 80),  # Sourcegraph, access tokens
    Prefix("postman-key", "PMAK- PMAT-", URL, 50, 70),  # Postman, API keys
    Prefix("readme-key", "rdme_", WORD, 60, 80),  # ReadMe, API keys
    # Watching
    Prefix("sentry-token", "sntrys_ sntryu_ sntrya_", BASE, 40, 400),  # Sentry, auth tokens
    Prefix("newrelic-key", "NRAK- NRJS- NRRA- NRII- NRIQ- NRSP-", WORD, 18, 60),  # New Relic, API keys
    Prefix("grafana-token", "glsa_", "[A-Za-z0-9_]", 36, 60),  # Grafana, service accounts
    Prefix("grafana-token", "glc_eyJ", BASE, 40, 500),  # Grafana Cloud, access policies
    Prefix("datadog-key", "ddapp_ ddpat_", URL, 30, 80),  # Datadog, application keys
    Prefix("honeycomb-key", "hcaik_ hcamk_ hcxik_", WORD, 30, 80),  # Honeycomb, API keys
    Prefix("dynatrace-token", "dt0c01. dt0s01. dt0s08. dt0s16.", "[A-Z0-9.]", 64, 120),  # Dynatrace
    # Models
    Prefix("anthropic-key", "sk-ant-", URL, 20, 250),  # Anthropic, API keys
    Prefix("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", URL, 20, 250),  # OpenAI, API keys
    Prefix("openai-key", "sk- sk-or-v1- sess-", WORD, 32, 120),  # OpenAI, OpenRouter, DeepSeek: API keys
    Prefix("langfuse-key", "sk-lf-", URL, 32, 40),  # Langfuse
    Prefix("langsmith-key", "lsv2_pt_ lsv2_sk_", "[0-9a-f_]", 32, 60),  # LangSmith
    Prefix("huggingface-token", "hf_ api_org_", WORD, 30, 60),  # Hugging Face, access tokens
    Prefix("groq-key", "gsk_", WORD, 40, 80),  # Groq, API keys
    Prefix("replicate-token", "r8_", WORD, 32, 50),  # Replicate, API tokens
    Prefix("perplexity-key", "pplx-", WORD, 40, 80),  # Perplexity, API keys
    Prefix("xai-key", "xai-", WORD, 60, 120),  # xAI, API keys
    Prefix("nvidia-key", "nvapi-", URL, 50, 100),  # NVIDIA NGC, API keys
    Prefix("cerebras-key", "csk-", WORD, 40, 60),  # Cerebras, API keys
    Prefix("together-key", "tgp_v1_", URL, 36, 60),  # Together AI, API keys
    Prefix("pinecone-key", "pcsk_", "[A-Za-z0-9_]", 50, 90),  # Pinecone, API keys
    Prefix("tavily-key", "tvly-", URL, 28, 60),  # Tavily, API keys
    Prefix("firecrawl-key", "fc-", HEX, 32, 32),  # Firecrawl, API keys
    Prefix("jina-key", "jina_", URL, 50, 80),  # Jina AI, API keys
    Prefix("e2b-key", "e2b_", HEX, 36, 50),  # E2B, API keys
    Prefix("wandb-key", "wandb_v1_", "[A-Za-z0-9_]", 40, 120),  # Weights & Biases, API keys
    Prefix("elevenlabs-key", "sk_", HEX, 48, 48),  # ElevenLabs, API keys
    # Talk, mail, documents
    Prefix("slack-token", "xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxc- xoxd- xoxe- xoxe.xoxp- xoxe.xoxb- xapp-",
           "[A-Za-z0-9%-]", 10),  # Slack, token types
    Prefix("sendgrid-key", "SG.", "[A-Za-z0-9._-]", 48, 100),  # SendGrid, API keys
    Prefix("brevo-key", "xkeysib- xsmtpsib-", URL, 60, 100),  # Brevo, API keys
    Prefix("resend-key", "re_", "[A-Za-z0-9_]", 30, 40),  # Resend, API keys
    Prefix("mailgun-key", "key- pubkey-", HEX, 32, 32),  # Mailgun, API keys
    Prefix("notion-token", "ntn_ secret_", WORD, 40, 60),  # Notion, integration tokens
    Prefix("linear-key", "lin_api_ lin_oauth_ lin_wh_", WORD, 32, 80),  # Linear, API keys
    Prefix("figma-token", "figd_ figo_ figu_", URL, 36, 60),  # Figma, personal access tokens
    Prefix("typeform-token", "tfp_", DOTS, 40, 70),  # Typeform, personal access tokens
    Prefix("contentful-token", "CFPAT-", URL, 40, 60),  # Contentful, management tokens
    Prefix("mapbox-token", "sk.eyJ", DOTS, 60, 200),  # Mapbox, secret tokens
    Prefix("dropbox-token", "sl.", URL, 130, 1500),  # Dropbox, short-lived tokens
    Prefix("facebook-token", "EAAG EAAC EAAB EAAM EAAJ", WORD, 80, 400),  # Meta, access tokens
    Prefix("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]", 40, 200),  # X, app-only bearer tokens
    Prefix("launchdarkly-key", "sdk- api-", "[0-9a-f-]", 36, 36),  # LaunchDarkly, SDK keys
    Prefix("adafruit-key", "aio_", WORD, 28, 28),  # Adafruit IO
    # Money and shops
    Prefix("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_", WORD, 16),  # Stripe
    Prefix("stripe-webhook", "whsec_", BASE, 24, 80),  # Stripe, webhook signing; Svix alike
    Prefix("shopify-token", "shpat_ shpca_ shppa_ shpss_ shpua_ shprt_", WORD, 30, 50),  # Shopify, app tokens
    Prefix("square-token", "EAAAE EAAAl EAAAF EAAAa", URL, 50, 80),  # Square, access tokens
    Prefix("square-token", "sq0atp- sq0csp- sq0idp-", URL, 20, 60),  # Square, access tokens and secrets
    Prefix("paypal-token", "A21AA", URL, 60, 150),  # PayPal, access tokens
    Prefix("plaid-token", "access-sandbox- access-development- access-production-", "[0-9a-f-]", 36),  # Plaid
    Prefix("flutterwave-key", "FLWSECK- FLWSECK_TEST- FLWSECK_LIVE-", URL, 12, 60),  # Flutterwave
    Prefix("easypost-key", "EZAK EZTK", WORD, 50, 60),  # EasyPost
    Prefix("shippo-token", "shippo_live_ shippo_test_", HEX, 36, 50),  # Shippo
    Prefix("frameio-token", "fio-u-", URL, 60, 70),  # Frame.io
    Prefix("private-key", "AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1", "[A-Z0-9]", 50, 120),  # age, key files
    Prefix("private-key", "xprv yprv zprv tprv", WORD, 100, 112),  # Bitcoin, BIP 32
)

# Of another shape. A secret stands apart: no letter and no digit before it or behind it.
_W, _U, _H, _B = WORD, URL, "[0-9a-f]", "[A-Za-z0-9+/]"
FORMS = (
    Form("aws-key", "AKIA ASIA ABIA ACCA",  # AWS IAM, unique identifiers
         r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
    Form("aws-key", "amzn.mws.", rf"amzn\.mws\.(?:{_H}|-){{36}}"),  # Amazon MWS
    Form("azure-secret", "8Q~ 7Q~", r"[\w~.-]{3}[78]Q~[\w~.-]{30,36}"),  # Microsoft Entra ID, client secrets
    Form("azure-key", "Key= key=",  # Azure Storage, Service Bus
         rf"(?:Account|SharedAccess)Key=({_B}{{40,100}}={{0,2}})"),
    Form("signed-url", "sig= Signature=",  # Azure SAS; presigned URLs of Amazon S3 and Google Cloud Storage
         r"(?<=[?&;])(?:sig|X-Amz-Signature|X-Goog-Signature)=([A-Za-z0-9%+/=_-]{40,600})"),
    Form("vault-token", "s. b.", rf"(?<![\w.-])[sb]\.({_W}{{24}})(?![\w.(-])", "mixed"),  # Vault before 1.10
    Form("terraform-token", ".atlasv1.",  # HCP Terraform, API tokens
         rf"{_W}{{14}}\.atlasv1\.[\w=-]{{50,80}}"),
    Form("doppler-token", "dp.st.",  # Doppler, service tokens
         rf"dp\.st\.(?:[a-z0-9_-]{{2,35}}\.)?{_W}{{36,60}}"),
    Form("slack-webhook", "hooks.slack.com hooks.slack-gov.com",  # Slack, incoming webhooks
         rf"https://hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?:{_U}|/){{20,120}}"),
    Form("discord-webhook", "/api/webhooks/",  # Discord, webhooks
         rf"(?:https://)?(?:\w{{1,10}}\.)?discord(?:app)?\.com/api/webhooks/\d{{16,22}}/{_U}{{40,120}}"),
    Form("discord-token", ".",  # Discord, bots
         rf"(?<![_-])[MNO]{_U}{{22,28}}\.{_U}{{6,7}}\.{_U}{{27,45}}", "mixed"),
    Form("discord-token", "mfa.", rf"mfa\.{_U}{{60,100}}"),  # Discord, accounts
    Form("telegram-token", ":",  # Telegram, bots
         rf"(?<![:-])(?:bot)?([0-9]{{8,10}}:{_U}{{34,36}})(?![:_-])", "mixed"),
    Form("teams-webhook", "webhook.office.com",  # Microsoft Teams, incoming webhooks
         r"https://[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{80,300}"),
    Form("webhook", "hooks.zapier.com",  # Zapier
         r"https://hooks\.zapier\.com/hooks/catch/\d{4,10}/\w{6,12}"),
    Form("webhook", "hooks.airtable.com",  # Airtable
         r"https://hooks\.airtable\.com/workflows/v1/[\w/-]{40,120}"),
    Form("webhook", "chat.googleapis.com",  # Google Chat, webhooks
         r"https://chat\.googleapis\.com/v1/spaces/[\w-]{8,20}/messages\?[\w%=&.-]{60,300}"),
    Form("firebase-key", ":APA91b", rf"{_U}{{11,24}}:APA91b{_U}{{100,200}}"),  # Firebase: servers, devices
    Form("twilio-key", "SK", rf"SK{_H}{{32}}"),  # Twilio, API keys
    Form("mailgun-key", "-", rf"(?<!-){_H}{{32}}-{_H}{{8}}-{_H}{{8}}(?!-)"),  # Mailgun, API keys
    Form("mailchimp-key", "-us", rf"{_H}{{32}}-us[0-9]{{1,2}}"),  # Mailchimp, API keys
    Form("newrelic-key", "NRAL", rf"(?:eu01xx|gov01x)?{_H}{{32,40}}(?:FFFF)?NRAL"),  # New Relic, license keys
    Form("airtable-token", "pat", rf"pat{_W}{{14}}\.{_H}{{50,70}}"),  # Airtable, personal access tokens
    Form("braintree-token", "access_token$",  # Braintree, access tokens
         rf"access_token\$(?:production|sandbox)\$[0-9a-z]{{16}}\${_H}{{32}}"),
    Form("asana-token", "/",  # Asana, tokens
         rf"(?<![/.])[12]/[0-9]{{15,17}}(?:/[0-9]{{15,17}})?:{_H}{{32}}"),
    Form("maxmind-key", "_mmk", rf"{_W}{{6}}_{_W}{{29}}_mmk"),  # MaxMind, license keys
    Form("onepassword-key", "A3-",  # 1Password, secret keys
         r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){3,5}[A-Z0-9]{5}"),
    Form("token", "_live_ _prod_ _production_ _test_ _sandbox_ _secret_ _pat_ _sk_ -live-",  # like Stripe's
         r"(?<![_-])[a-z][a-z0-9]{1,11}[_-](?:live|prod|production|test|sandbox|secret|pat|sk)[_-]"
         rf"({_W}{{20,120}}(?:-{_U}{{1,100}})?)(?!_)", "mixed"),
    Form("jwt", "eyJ",  # RFC 7519; encrypted: RFC 7516
         rf"eyJ{_U}{{8,4000}}\.(?:eyJ{_U}{{8,8000}}|{_U}{{0,1000}}\.{_U}{{12,100}})\.{_U}{{8,8000}}"
         rf"(?:\.{_U}{{16,100}})?"),
    Form("private-key", "LS0tLS1CRUdJTi",  # a private key in base64, as in kubeconfig files
         rf"LS0tLS1CRUdJTi{_B}{{0,30}}(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW){_B}{{20,8000}}"),
    Form("private-key", "5H 5J 5K", rf"5[HJK]{_W}{{49}}", "mixed"),  # Bitcoin, wallet import format
    Form("private-key", "K L", r"(?<![/+])[KL][1-5][1-9A-HJ-NP-Za-km-z]{50}(?![/+=])", "mixed"),
    Form("otp-secret", "otpauth://",  # Key URI format
         r"otpauth://[^\s\"'<>]{0,200}[?&]secret=([A-Za-z2-7]{10,200})"),
    Form("password-hash", ":$",  # crypt(5)
         r"(?m:^)[a-z_][\w.-]{0,31}:(\$(?:1|2[aby]|5|6|7|y|gy|apr1)\$[^\s:]{20,200})"),
)

# Where the words around a value say what it is: the last named group. What a test lets pass: `any` all but
# placeholders, `password` and `token` what looks chosen or drawn, `basic` base64 of name:password.
_REST = r"(?![\w-])[^\n|;&]{0,200}?[ \t]"  # of a command, up to an option
_IN_QUOTES = r"\"(?P<double>[^\"\n]{3,200})\"|'(?P<single>[^'\n]{3,200})'"
_VALUE = rf"(?:{_IN_QUOTES}|(?P<bare>[^\s\"'`|;<>)]{{3,200}}))"
_ECHO = r"\becho\s+(?:-\w\s+)?[\"']?"
_BY = (r"(?:\bidentified\s+(?:with\s+['\"]?\w{1,40}['\"]?\s+)?|_password\s+)(?:by|as)\s+(?:password\s+)?"
       rf"(?:{_IN_QUOTES}|(?P<bare>[\w#$]{{4,60}})(?=\s*;))")
PLACES = (
    # URLs and their like
    Form("url-password", "://",  # RFC 3986, userinfo; github:// of fsspec names a repository there
         r"(?<![A-Za-z0-9])(?!github:)[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<user>[^\s:/@\"'<>`?#,]{0,100})"
         r":(?P<bare>[^\s/\"'<>`,]{1,200})@(?=[A-Za-z0-9_.\[$<{%*-])", "url"),
    Form("url-token", "://", r"(?<!ssh)://(?P<bare>[A-Za-z0-9_-]{20,200})@(?=[A-Za-z0-9])", "token"),
    Form("url-password", "jdbc:oracle sqlplus",  # Oracle, easy connect
         r"\b(?:jdbc:oracle:\w{2,5}:|sqlplus\s(?:-\w+\s){0,3})[\w$#]{1,60}/(?P<bare>[^\s@\"'<>]{2,100})@",
         "any"),
    # Commands
    Form("password", "mysql mariadb",  # MySQL, command options
         rf"\b(?:mysql|mariadb)\w{{0,12}}(?:-\w{{1,12}})?{_REST}-p{_VALUE}", "option"),
    Form("password", "curl wget http",  # curl, HTTPie
         rf"\b(?:curl|wget|https?|xh){_REST}(?:-u|--user|--proxy-user|-U|-a|--auth)[ =]?"
         r"(?:\"[^\s:\"]{1,80}:(?P<double>[^\"\n]{3,200})\"|'[^\s:']{1,80}:(?P<single>[^'\n]{3,200})'"
         r"|[^\s:\"'/]{1,80}:(?P<bare>[^\s\"'`|;<>/]{3,200}))", "any"),
    Form("cookie", "curl wget",  # curl
         rf"\b(?:curl|wget){_REST}(?:-b|--cookie)[ =]?[\"']?[\w.-]{{1,60}}=(?P<bare>[^\s\"';]{{12,2000}})",
         "token"),
    Form("password", "sshpass", rf"\bsshpass{_REST}-p[ ]?{_VALUE}", "any"),  # sshpass
    Form("password", "redis-cli keydb-cli valkey-cli",  # Redis CLI
         rf"\b(?:redis|keydb|valkey)-cli{_REST}(?:-a|--pass)[ =]{_VALUE}", "any"),
    Form("password", "mongo login rabbitmqadmin",  # MongoDB Shell, Docker, Helm, Azure CLI, oc
         r"\b(?:mongo(?:sh|dump|restore|export|import)?|(?:docker|podman|helm registry|az|oc) login"
         rf"|rabbitmqadmin){_REST}-p[ =]?{_VALUE}", "option"),
    Form("password", "ldap",  # OpenLDAP
         rf"\bldap(?:search|modify|add|delete|whoami|passwd){_REST}-w[ ]?{_VALUE}", "any"),
    Form("password", "smbclient rpcclient winexe",  # Samba
         rf"\b(?:smbclient|rpcclient|winexe){_REST}-U[ ]?['\"]?[\w.\\/-]{{1,60}}%(?P<bare>[^\s'\"]{{3,100}})",
         "any"),
    Form("password", "zip", rf"\b(?:un)?zip{_REST}-P[ ]?{_VALUE}", "option"),  # Info-ZIP
    Form("password", "7z rar",  # 7-Zip, RAR
         rf"\b(?:7z[ar]?|(?:un)?rar) [axeltd]{_REST}-h?p{_VALUE}", "option"),
    Form("password", "pass:",  # OpenSSL, pass phrases
         rf"(?:-pass(?:in|out|word)?|-k)[ =]pass:{_VALUE}", "any"),
    Form("password", "sqlcmd bcp", rf"\b(?:sqlcmd|bcp){_REST}-P ?{_VALUE}", "option"),  # SQL Server
    Form("password", "snmp", rf"\bsnmp\w{{2,10}}{_REST}-[AX] {_VALUE}", "option"),  # Net-SNMP
    Form("password", "rabbitmqctl",  # RabbitMQ
         rf"\brabbitmqctl{_REST}(?:add_user|change_password)\s+\S{{1,60}}\s+{_VALUE}", "any"),
    Form("password", "pass",  # keytool and others: -storepass, --dbpass
         rf"(?:^|\s)--?(?!(?:by|com)pass)[a-z-]{{1,30}}pass(?:wd)?[ =]{_VALUE}", "option"),
    Form("password", "echo printf",  # into a file that is named for it
         r"\b(?:echo|printf)\s+(?:-\w\s+)?[\"']?(?P<bare>[^\s\"'|<>]{6,100})[\"']?\s*>{1,2}\s*"
         r"[\w./~-]{0,80}(?i:pass|secret|token|pwd)", "password"),
    Form("password", "openssl", rf"\bopenssl{_REST}-[kK] {_VALUE}", "option"),  # OpenSSL, enc
    Form("password", "htpasswd",  # Apache
         r"\bhtpasswd\s+-\w*b\w*\s+(?:\S{1,100}\s+){1,2}?(?P<bare>[^\s\"'|;]{4,100})(?=\s*(?:$|[|;&\n]))",
         "any"),
    Form("password", "chpasswd",  # shadow
         rf"{_ECHO}[\w.-]{{1,40}}:(?P<bare>[^\s\"'|]{{3,100}})[\"']?\s*\|\s*(?:sudo\s+)?chpasswd", "any"),
    Form("password", "sudo -stdin passphrase-fd",  # sudo, Docker, GnuPG: a password by pipe
         rf"{_ECHO}(?P<bare>[^\s\"'|]{{3,100}})[\"']?\s*\|\s*(?:sudo\s+-S"
         r"|[^\n|]{1,100}(?:--password-stdin|--passphrase-fd))", "any"),
    Form("password", "convertto-securestring",  # PowerShell
         rf"(?i)ConvertTo-SecureString\s+(?:-String\s+)?{_VALUE}", "any"),
    Form("password", "/user:",  # Windows: net use
         r"(?i)\bnet use\s+[^\n]{0,80}?/user:\S{1,60}\s+(?P<bare>[^\s/\"']{4,100})", "any"),
    Form("password", "from-literal", rf"--from-literal[= ][\w.-]{{1,60}}={_VALUE}", "password"),  # kubectl
    # SQL: MySQL, Oracle, PostgreSQL, SQL Server
    Form("password", "identified", rf"(?i)\b(?:user|role|grant|alter|create)\b[^\n;]{{0,200}}?{_BY}", "any"),
    Form("password", "identified _password", rf"(?i){_BY}", "password"),
    Form("password", "password",
         r"(?i)\b(?:with|role|user|login|alter|set)\s[^\n;]{0,120}?\bpassword\s*(?:=\s*)?"
         r"(?:for\s[^\n=]{1,60}=\s*)?(?:\(\s*)?N?'(?P<single>[^'\n]{3,200})'", "any"),
    Form("password", "password",
         r"(?i)\bpassword\s*\(\s*['\"](?P<bare>[^'\"\n]{3,200})['\"]\s*\)", "password"),
    # Files: netrc, .pgpass, XML
    Form("password", "login",
         r"(?:\bmachine\s+(?:localhost|[\w-]{0,60}[.\d:][\w.:-]{0,60})|\bdefault)\s+login\s+\S{1,80}"
         r"\s+password\s+(?P<bare>\S{3,200})", "any"),
    Form("password", "login user",
         r"(?i)\b(?:login|user(?:name)?)\s+[\w.@-]{1,80},?\s+password\s+(?P<bare>[^\s\"']{3,200})",
         "password"),
    Form("password", "pass",
         rf"(?i)(?:\buser(?:name)?\b[^\n]{{0,60}}?[/,;]\s{{0,3}}|\()pass\s{{1,2}}{_VALUE}", "password"),
    Form("password", ":",
         r"(?m)^[\w.*-]{1,80}:(?:[0-9]{3,5}|\*):[\w*.-]{1,60}:[\w*.-]{1,60}:(?P<bare>[^\s:]{4,100})$",
         "password"),
    Form("password", "</",
         r"(?i)<[\w:-]{0,40}(?:password|passwd|pwd|passphrase)\b[^<>\n]{0,80}>(?P<bare>[^<>\s]{4,200})</",
         "password"),
    # HTTP: RFC 9110, 6750, 7617, 6265
    Form("authorization", "authorization",
         r"(?i)\bauthorization[\"'`]?\s{0,3}[:=,]\s{0,3}[\"'`]?(?:(?:bearer|basic|token|digest|api-?key"
         r"|splunk|ssws|geniekey|bot|key|oauth|negotiate)[ =]{1,2})?(?P<bare>[^\s\"'`,;<>]{8,4000})",
         "header"),
    Form("authorization", "bearer basic token ssws",
         r"(?<![\w-])(?:[Bb]earer|BEARER|[Bb]asic|[Tt]oken|SSWS) {1,2}"
         r"(?P<bare>[A-Za-z0-9+/._~-]{20,4000}={0,2})", "header"),
    Form("cookie", "sessid= sessionid= session_id= _session= .sid= remember_ __secure- __host-",
         r"(?i)(?<![A-Za-z0-9])(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid|\w{0,20}_session"
         r"|sessionid|_session_id|remember_\w{1,60}|__(?:Secure|Host)-[\w.-]{1,40})"
         r"=(?P<bare>[^\s;\"'&,]{12,4000})",
         "token"),
    # Said: BIP 39, PIN
    Form("mnemonic", "seed mnemonic recovery",
         r"(?i)\b(?:seed|mnemonic|recovery)(?:[ _-]?(?:phrase|words))?[\"'`]?\s{0,3}(?:is|:|=)\s{0,3}[\"'`]?"
         r"(?P<bare>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b", "words"),
    Form("private-key", "private",
         r"(?i)\bprivate[ _-]?key[^\n]{0,20}?[:=\s]\s{0,3}[\"'`]?"
         r"(?P<bare>(?:0x)?[0-9a-f]{64})(?![0-9a-zA-Z])"),
    Form("recovery-code", "code",
         r"(?i)\b(?:recovery|backup|emergency|scratch)[ _-]codes?(?:\s(?:is|are))?\s{0,2}[:=]?\s{1,3}"
         r"(?P<bare>[a-z0-9]{3,10}-[a-z0-9-]{3,40}(?:[ ,;\n]{1,3}[a-z0-9]{3,10}-[a-z0-9-]{3,40}){0,19})",
         "numbered"),
    Form("license-key", "key",
         r"(?i:\b(?:licen[sc]e|product|serial|activation)[ _-]key)(?:\s(?i:is))?\s{0,2}[:=]?\s{0,3}[\"'`]?"
         r"(?P<bare>[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){3,7})(?![A-Za-z0-9-])", "numbered"),
    Form("passphrase", "passphrase",
         r"(?i)\bpassphrase(?:\s(?:is|ist|est|es)|\s{0,2}[:=])\s{1,3}"
         r"(?P<bare>(?:[a-z]{3,9}[ ]){3,11}[a-z]{3,9})(?=[.!]?\s*(?:$|\n))", "words"),
    Form("password", "wifi wi-fi wlan ssid wpa",
         r"(?i)\b(?:wi-?fi|wlan|ssid|wpa[23]?)\b[^\n]{0,80}?\b(?:key|psk|code|schlüssel|clé)(?:\s(?:is|ist)"
         rf"|\sest|\s?[:=])?\s{{1,3}}{_VALUE}", "password"),
    Form("password", "psk=", rf"\bpsk={_VALUE}", "password"),  # wpa_supplicant.conf
    Form("password", "log sign",
         r"(?i)\b(?:log|sign)(?:ged|ging|ned|ning)?[ -]?in\s(?:as|with|using)\s[\"'`]?[\w.@+-]{2,60}[\"'`]?"
         r"\s{0,2}(?:[/:|]|and|with)\s{0,2}[\"'`]?(?P<bare>[^\s\"'`<>,;]{6,100})", "strong"),
    Form("otp-secret", "otp 2fa mfa",  # RFC 4648, base32
         r"(?i:\b(?:[th]?otp|[2m]fa|authenticator))\b[^\n]{0,40}?"
         r"(?=[A-Z ]{0,60}[2-7])(?P<bare>[A-Z2-7]{16,64}|(?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4})(?![A-Za-z0-9])"),
    Form("pin", "pin puk",  # of a header, a chip: one to three digits
         r"(?:\b(?:PIN|PUK)(?:[- ]?(?i:codes?|nummer|number))?|(?i:\b(?:pin|puk)(?=[ -]code|\s(?:for|of|to)\s"
         r"[^\n.;:!?]{2,60}\sis\s))(?:[ -]code)?(?:\s(?:for|of|to)\s[^\n.;:!?]{2,60}?)?)"
         r"(?:\s(?i:is|ist|lautet|est|es|è|é)\s|\s{0,2}[:=]\s{0,2})"
         r"(?P<bare>[0-9]{4,12})\b(?![.:/-]?[0-9A-Za-z])", "digits"),
)
COOKIES = r"(?i)\bcookies?[\"'`]?\s{0,3}[:=,]\s{0,3}[\"'`]?[^\n\"'`]{8,8000}"  # the header, in which each is
COOKIE = Form("cookie", "", r"[\w.%-]{1,60}=(?P<bare>[^\s;,\"'`\\]{12,4000})", "token")

# Names of secrets, in small letters, as they stand before a value. English, German, French, Spanish, Italian,
# Portuguese, Dutch, Polish, Czech, Hungarian, Swedish, Danish, Norwegian, Finnish, Russian, Turkish, Chinese,
# Japanese, Korean.
PASSWORDS = (
    "password passwd passphrase passcode passwort kennwort passordet passord wachtwoord adgangskoden"
    " adgangskode lösenordet lösenord losenord salasana contraseña contrasena clave senha palavra-passe"
    " parola motdepasse mdp hasło haslo heslo jelszó пароль şifre sifre"
    " 密码 密碼 口令 パスワード 비밀번호").split()
TOKENS = "secret token jeton geheimnis".split()
LOGINS = ("credentials credential creds login zugangsdaten anmeldedaten identifiants credenciales"
          " credenziali").split()
KEYS = (
    "api app application access account admin auth client consumer cookie crypt deploy encryption hmac jwt"
    " license licence master preshared pre-shared private root secret server service session shared signing"
    " storage subscription webhook integration bot openai anthropic stripe aws azure google gemini groq"
    " mistral cohere datadog dd heroku cloudflare algolia mapbox sendgrid mailgun twilio").split()
# What stands between such a name and its value in a sentence
VERBS = ("is was equals reads ist lautet war heißt est était sera es era será è e' é foi to było är var er"
         " это").split()
OF = ("for of to on in at from für fuer zum zur vom von des der beim im pour de du d' sur del della dello"
      " dell' di per para do da no na voor van op dla till för til для от").split()
NOW = "now still currently again just jetzt nun noch maintenant toujours ahora adesso ora agora nu".split()
