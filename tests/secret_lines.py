"""Lines with secrets in them, and lines that only look so.

A secret is drawn when the table is read, so that no scanner of repositories takes this file for a leak: `{w36}` stands
for 36 letters and digits, `{u…}` with _ and -, `{h…}` hexadecimal, `{H…}` in capitals and digits, `{b…}` base64, `{d…}`
digits, `{l…}` small letters and digits, `{p…}` a password of small and capital letters and digits. Prefixes are cut by `¦`,
which is taken out. What was drawn must be gone afterwards.
"""

from __future__ import annotations

import random
import re
import string

ALPHABETS = {
    "w": string.ascii_letters + string.digits, "u": string.ascii_letters + string.digits + "_-", "h": "0123456789abcdef",
    "H": string.ascii_uppercase + "234567", "b": string.ascii_letters + string.digits + "+/", "d": string.digits,
    "l": string.ascii_lowercase + string.digits, "p": string.ascii_letters + string.digits,
}  # fmt: skip


def draw(template: str, seed: int = 0) -> tuple[str, list[str]]:
    """The line with drawn values, and those values."""
    chance = random.Random(f"{template}{seed}")
    drawn: list[str] = []

    def value(match: re.Match[str]) -> str:
        letters, length = ALPHABETS[match[1]], int(match[2])
        value = "".join(chance.choices(letters, k=length))
        while match[1] == "p" and not (re.search(r"\d", value) and re.search(r"[a-z]", value) and re.search(r"[A-Z]", value[1:])):
            value = "".join(chance.choices(letters, k=length))
        if length >= 6:
            drawn.append(value)
        return value

    return re.sub(r"\{([wuhHbdlp])(\d+)\}", value, template.replace("¦", "")), drawn


TOKENS = """
aws-key | AK¦IA{H16}
aws-key | AS¦IA{H16}
azure-secret | {w3}8Q¦~{w34}
azure-key | DefaultEndpointsProtocol=https;AccountName=st1;Account¦Key={b86}==;EndpointSuffix=core.windows.net
azure-key | Endpoint=sb://bus.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccess¦Key={b43}=
signed-url | https://st1.blob.core.windows.net/c/f.txt?sv=2022-11-02&se=2026-01-01&sp=r&sig={w43}%3D
signed-url | https://bucket.s3.amazonaws.com/x?X-Amz-Date=20260101T000000Z&X-Amz-Signature={h64}
google-key | AI¦za{u35}
google-token | ya¦29.a0{u120}
google-token | 1/¦/0g{u60}
google-secret | GOC¦SPX-{u28}
firebase-key | AA¦AA{w7}:APA¦91b{u134}
digitalocean-token | dop¦_v1_{h64}
digitalocean-token | doo¦_v1_{h64}
heroku-key | HR¦KU-AA{u58}
fly-token | fo1¦_{u43}
fly-token | FlyV1 fm2¦_{b180}
cloudflare-token | v1¦.0-{h24}-{h146}
vercel-token | vcp¦_{w56}
netlify-token | nfp¦_{w40}
render-key | rnd¦_{w28}
supabase-key | sbp¦_{h40}
supabase-key | sb_¦secret_{u31}
planetscale-token | pscale¦_tkn_{u43}
databricks-token | dap¦i{h32}
databricks-token | dap¦i{h32}-2
vault-token | hv¦s.{u90}
vault-token | hv¦b.{u130}
vault-token | the legacy token s¦.{w24}
terraform-token | {w14}.atlas¦v1.{u67}
doppler-token | dp¦.pt.{w43}
doppler-token | dp¦.st.dev.{w43}
doppler-token | dp¦.st.{w43}
pulumi-token | pul¦-{h40}
tailscale-key | tskey¦-auth-{w16}-{w32}
github-token | gh¦p_{w36}
github-token | gh¦o_{w36}
github-token | gh¦u_{w36}
github-token | gh¦s_{w36}
github-token | gh¦r_{w76}
github-token | github¦_pat_{w22}_{w59}
gitlab-token | gl¦pat-{u20}
gitlab-token | gl¦rt-{u20}
gitlab-token | gl¦dt-{u20}
gitlab-token | gl¦ptt-{h40}
gitlab-token | gl¦ft-{u20}
gitlab-token | gl¦cbt-64_{u20}
gitlab-token | gl¦agent-{u50}
gitlab-token | gl¦soat-{u20}
gitlab-token | gl¦imt-{u25}
gitlab-token | GR13¦48941{u20}
bitbucket-token | AT¦BB{w32}
atlassian-token | ATA¦TT3xFfGF0{u160}={H8}
npm-token | np¦m_{w36}
pypi-token | pyp¦i-AgEIcHlwaS5vcmc{u140}
rubygems-key | ruby¦gems_{h48}
crates-token | ci¦o{w32}
nuget-key | oy¦2{l43}
docker-token | dckr¦_pat_{u27}
circleci-token | CCI¦PAT_{w22}_{h40}
sonar-token | sq¦p_{h40}
postman-key | PM¦AK-{h24}-{h34}
sentry-token | sntr¦ys_{b120}
sentry-token | sntr¦yu_{h64}
newrelic-key | NR¦AK-{H27}
newrelic-key | {h36}FFFFNR¦AL
grafana-token | gl¦sa_{w32}_{h8}
grafana-token | gl¦c_eyJ{b90}
dynatrace-token | dt0¦c01.{H24}.{H64}
anthropic-key | sk-¦ant-api03-{u93}AA
anthropic-key | sk-¦ant-oat01-{u93}AA
openai-key | sk-¦proj-{u120}
openai-key | sk-¦{w48}
openai-key | sk-¦{w20}T3BlbkFJ{w20}
openai-key | sk-¦or-v1-{h64}
openai-key | sk-¦{h32}
langsmith-key | lsv2¦_pt_{h32}_{h10}
huggingface-token | h¦f_{w34}
groq-key | gs¦k_{w52}
replicate-token | r¦8_{w37}
perplexity-key | ppl¦x-{w48}
xai-key | xa¦i-{w80}
nvidia-key | nva¦pi-{u64}
pinecone-key | pcs¦k_{w6}_{w63}
tavily-key | tv¦ly-dev-{w32}
slack-token | xo¦xb-{d12}-{d13}-{w24}
slack-token | xo¦xp-{d12}-{d12}-{d12}-{h32}
slack-token | xa¦pp-1-A{H10}-{d13}-{h64}
slack-token | xo¦xe.xoxp-1-{w140}
slack-webhook | https://hooks.¦slack.com/services/T{H8}/B{H8}/{w24}
discord-webhook | https://discord.com/¦api/webhooks/{d18}/{u68}
discord-webhook | https://discordapp.com/¦api/webhooks/{d19}/{u68}
discord-token | M{w23}.{w6}.{u38}
discord-token | N{w23}.{w6}.{u27}
telegram-token | {d10}:AA{u33}
telegram-token | https://api.telegram.org/bot{d10}:AA{u33}/getMe
teams-webhook | https://acme.webhook.¦office.com/webhookb2/{h8}-{h4}-{h4}-{h4}-{h12}@{h8}-{h4}-{h4}-{h4}-{h12}/IncomingWebhook/{h32}/{h8}-{h4}
sendgrid-key | S¦G.{u22}.{u43}
brevo-key | xkey¦sib-{h64}-{w16}
resend-key | r¦e_{w8}_{w24}
mailgun-key | ke¦y-{h32}
mailgun-key | {h32}-{h8}-{h8}
mailchimp-key | {h32}-u¦s12
twilio-key | S¦K{h32}
notion-token | nt¦n_{w46}
notion-token | secre¦t_{w43}
linear-key | lin¦_api_{w40}
linear-key | lin¦_oauth_{h64}
figma-token | fig¦d_{u40}
airtable-token | pa¦t{w14}.{h64}
stripe-key | sk¦_live_{w24}
stripe-key | rk¦_live_{w99}
stripe-key | sk¦_test_{w24}
stripe-webhook | whs¦ec_{w32}
shopify-token | shp¦at_{h32}
shopify-token | shp¦ss_{h32}
square-token | EA¦AAE{u59}
square-token | sq0¦atp-{u22}
square-token | sq0¦csp-{u43}
braintree-token | access_¦token$production${l16}${h32}
plaid-token | access-¦sandbox-{h8}-{h4}-{h4}-{h4}-{h12}
flutterwave-key | FLWS¦ECK-{h32}-X
asana-token | 1/{d16}:{h32}
jwt | ey¦J{w33}.ey¦J{w60}.{u43}
private-key | AGE-¦SECRET-KEY-1{H58}
private-key | 5¦K{w49}
private-key | xp¦rv{w107}
token | acm¦e_live_{w24}
token | foo¦_secret_{w32}
"""

PLACES = """
password | mysql -u root -p{p10}
password | mysql -uroot -p'{p10}' shop
password | mysqldump --all-databases -u backup -p{p12} > dump.sql
password | mariadb -h db -u app -p{p12} app
password | mysql --user=root --password={p10} shop
password | curl -u admin:{p12} https://api.acme.io/v1
password | curl -s --user 'admin:{p12}' https://api.acme.io/v1
password | curl -X POST -u "bob:{p10}" https://x.acme.io
password | wget --user=bob --password={p10} https://x.acme.io/f
password | sshpass -p {p10} ssh root@10.0.0.5
password | sshpass -p '{p10}' scp f root@host:
password | redis-cli -h cache -a {p16} ping
password | mongosh -u admin -p {p12} --authenticationDatabase admin
password | docker login -u bob -p {p16} registry.acme.io
password | az login --service-principal -u {h8} -p {p20} --tenant t
password | ldapsearch -x -D cn=admin,dc=acme -w {p12} -b dc=acme
password | smbclient //srv/share -U bob%{p10}
password | unzip -P {p10} archive.zip
password | 7z x backup.7z -p{p10}
password | openssl rsa -in k.pem -passin pass:{p10}
password | gpg --batch --passphrase {p14} -c file
password | svn co --username bob --password {p10} https://svn.acme.io
password | ./deploy.sh --db-password {p12} --verbose
password | ./run --password "{p12}"
password | echo "{p10}" | sudo -S apt update
password | echo 'bob:{p10}' | sudo chpasswd
password | htpasswd -bc .htpasswd bob {p10}
password | sqlplus scott/{p10}@orcl
password | CREATE USER 'app'@'%' IDENTIFIED BY '{p12}';
password | ALTER USER root@localhost IDENTIFIED WITH mysql_native_password BY '{p12}';
password | CREATE USER app IDENTIFIED BY {p12};
password | CREATE ROLE app LOGIN PASSWORD '{p12}';
password | ALTER USER app WITH PASSWORD '{p12}';
password | CREATE USER app WITH ENCRYPTED PASSWORD '{p12}';
password | CREATE LOGIN app WITH PASSWORD = N'{p12}';
password | SET PASSWORD FOR 'app'@'%' = PASSWORD('{p12}');
password | machine api.acme.io login bob password {p12}
password | db.acme.io:5432:shop:app:{p12}
password | *:*:*:app:{p12}
url-password | postgres://app:{p14}@db.internal:5432/prod
url-password | postgresql+psycopg2://app:{p14}@db/prod
url-password | mysql://root:{p10}@127.0.0.1:3306/shop
url-password | redis://:{p16}@cache:6379/0
url-password | mongodb+srv://u:{p12}@cluster0.acme.mongodb.net/db
url-password | amqps://svc:{p12}@mq:5671/vhost
url-password | https://bob:{p12}@git.acme.io/x.git
url-password | git clone https://oauth2:{w40}@gitlab.acme.io/x.git
url-password | ftp://bob:{p8}@files.acme.io
url-password | smtp://mailer:{p10}@mail.acme.io:587
url-password | ldap://cn=admin:{p10}@ldap.acme.io
url-password | postgres://app:pa@{p10}@db/prod
url-password | http_proxy=http://bob:{p10}@proxy:3128
url-password | jdbc:oracle:thin:scott/{p10}@//db:1521/x
url-token | https://{h32}@o12345.ingest.sentry.io/678
password | jdbc:postgresql://db/prod?user=app&password={p12}&ssl=true
password | Server=db;Database=shop;User Id=sa;Password={p12};TrustServerCertificate=True
password | Server=tcp:x.database.windows.net,1433;Uid=app;Pwd={p12};
password | host=db user=app password={p12} dbname=shop
password | DB_PASS={p10}
password | export PGPASSWORD={p12}
password | SMTP_PASS: {p12}
password | MYSQL_ROOT_PASSWORD: "{p12}"
password | spring.datasource.password={p12}
password | db_passwd = '{p12}'
password | "password": "{p12}"
password | 'pass' => '{p12}',
password | {"user": "bob", "pwd": "{p12}"}
password | smtpPass: "{p12}"
password | $config['db_password'] = '{p12}';
password | <password>{p12}</password>
password | - name: DB_PASSWORD, value: "{p12}"
password | {"name": "DB_PASSWORD", "value": "{p12}"}
password | **Password:** {p12}
password | | password | {p12} |
password | password: `{p12}`
password | PASSWORD_PROD={p12}
password | \\"password\\": \\"{p12}\\"
password | Passwort: {p12}
password | Kennwort={p12}
password | mot de passe : {p12}
password | contraseña: {p12}
password | senha={p12}
password | wachtwoord: {p12}
password | пароль: {p12}
password | 密码：{p12}
password | パスワード: {p12}
password | The password is {p12}.
password | the password for the staging db is {p10}
password | My password is "{p10}", keep it.
password | password is now {p12}
password | I changed the root password to {p12} yesterday
password | please set the password to {p12}
password | use {p12} as the password
password | log in with password {p12}
password | user admin, password {p12}
password | Das Passwort ist {p12}.
password | Das Passwort für den Server lautet {p12}
password | Das Kennwort lautet: {p12}
password | Le mot de passe est {p12}.
password | le mot de passe du serveur est : {p12}
password | La contraseña es {p12}
password | la contraseña del servidor es {p12}
password | la clave es {p12}
password | La password è {p12}
password | la password del server è {p12}.
password | a senha é {p12}
password | het wachtwoord is {p12}
password | hasło to {p12}
password | lösenordet är {p12}
password | 密码是{p12}
password | credentials are admin / {p12}
password | login: admin / {p12}
password | Zugangsdaten: admin / {p12}
password | the passphrase is "{p14}"
password | wifi password: {p10}
pin | The PIN is 4¦82913
pin | PIN: 7¦391
authorization | Authorization: Bearer {w40}
authorization | Authorization: Bearer {u86}
authorization | curl -H "Authorization: Token {h40}" https://x
authorization | curl -H 'authorization: token {h40}' https://x
authorization | {"Authorization": "Bearer {w32}"}
authorization | Authorization: Basic {b0}YWRtaW46¦c3VwZXJzZWNyZXQx
authorization | Authorization: ApiKey {w40}
authorization | Authorization: Splunk {h8}-{h4}-{h4}-{h4}-{h12}
authorization | Authorization: {w40}
authorization | "auth": "dXNlcjpodW50¦ZXIyaHVudGVyMg=="
authorization | //registry.acme.io/:_auth=dXNlcjpodW50¦ZXIyaHVudGVyMg==
token | //registry.npmjs.org/:_authToken={w36}
cookie | Cookie: session={w32}; theme=dark
cookie | Cookie: theme=dark; sid={w32}
cookie | Set-Cookie: sessionid={l32}; HttpOnly; Path=/
cookie | Set-Cookie: connect.sid=s%3A{u32}.{w43}; Path=/
cookie | PHPSESSID={l26}
cookie | curl -b "session={w40}" https://x
token | PRIVATE-TOKEN: {u20}
token | X-Auth-Token: {h32}
token | X-Vault-Token: {u26}
api-key | X-Api-Key: {h32}
api-key | x-api-key: {w40}
api-key | DD_API_KEY={h32}
api-key | DD_APP_KEY={h40}
api-key | CLOUDFLARE_API_KEY={h37}
token | CLOUDFLARE_API_TOKEN={u40}
token | TWILIO_AUTH_TOKEN={h32}
token | access_token={w40}&expires=3600
token | https://x.acme.io/?access_token={w40}
api-key | https://x.acme.io/?api_key={h32}&q=1
api-key | aws_secret_access_key = {b40}
api-key | AWS_SECRET_ACCESS_KEY={b40}
token | aws_session_token={b200}
api-key | secretAccessKey: "{b40}"
secret | the AWS secret is {b40}
token | the token is {w32}
api-key | our API key is {w32}
api-key | API key: {w32}
token | gh auth login --token {w40}
api-key | mytool --api-key {w32} run
secret | client_secret: {w40}
secret | "clientSecret": "{u40}"
secret | PAYPAL_CLIENT_SECRET={u80}
secret | JWT_SECRET="{w48}"
api-key | SECRET_KEY_BASE={h128}
api-key | RAILS_MASTER_KEY={h32}
api-key | SECRET_KEY = 'django-insecure-{l50}'
api-key | const apiKey: string = "{w32}";
api-key | api_key: str = "{w32}"
api-key | PrivateKey = {b43}=
api-key | PresharedKey = {b43}=
token | token: {h40}
token | VAULT_TOKEN={u26}
token | discord_token = "{w24}.{w6}.{w27}"
api-key | HEROKU_API_KEY={h8}-{h4}-{h4}-{h4}-{h12}
otp-secret | otpauth://totp/Acme:bob?secret={H32}&issuer=Acme
mnemonic | seed phrase: ¦ripple canal orbit velvet mango thunder pencil gravity sunset walnut copper lantern
password | kubectl create secret generic db --from-literal=password={p12}
password-hash | root:$6$¦{w16}${w86}:19000:0:99999:7:::
"""


def rows(table: str) -> list[tuple[str, str]]:
    return [(kind, template) for line in table.strip().splitlines() for kind, _, template in [line.partition(" | ")]]
