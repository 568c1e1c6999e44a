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
firebase-key | {w22}:APA¦91b{u133}w
token | duffel¦_live_{w20}-{u20}w
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
password | $cred = ConvertTo-SecureString "{p12}" -AsPlainText -Force
password | network={ssid="home" psk="{p12}"}
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
url-password | sqlplus scott/{p10}@orcl
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
password | Zugangsdaten: admin / {p16}
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
token | //npm.example.org/:_authToken={w36}
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
token | discord_token = "A{w23}.{w6}.{w27}"
api-key | HEROKU_API_KEY={h8}-{h4}-{h4}-{h4}-{h12}
otp-secret | otpauth://totp/Acme:bob?secret={H32}&issuer=Acme
mnemonic | seed phrase: ¦ripple canal orbit velvet mango thunder pencil gravity sunset walnut copper lantern
password | kubectl create secret generic db --from-literal=password={p12}
password | la contraseña es Luna$Mar{p6}
password | openssl enc -aes-256-cbc -k {p12} -in a -out b
password | sqlcmd -S db -U sa -P {p12} -Q 'select 1'
password | bcp shop.dbo.t out t.csv -U sa -P {p12}
password | snmpwalk -v3 -u mon -A {p12} host
password | rabbitmqctl add_user ci {p10}
password | keytool -storepass {p12} -list
password | echo '{p12}' > ~/.vault_pass
password | ALTER USER eva IDENTIFIED WITH mysql_native_password BY '{p10}';
password | username eva password {p10}
password | ssh eva@10.0.0.3 (pass {p12})
password | SMTP user eva / pass {p12} on port 587
password | wifi: SSID Attic, key {p12}
password | log in as admin / {p12}
password | The admin account's password was reset to {p12}.
password | use Quartz_Hen_{p8} as the password for the demo account
password | Kennwort für den Drucker: {p12}
password | mot de passe wifi : {p12}
secret | JWT_SECRET=plum-tractor-Ohio-{p6}
api-key | app.api.key={w24}
authorization | okta SSWS 00{w40}
private-key | Private key (hex): 0x{h64}
recovery-code | recovery code: 7f3k-{h4}-9q2{h6}
recovery-code | backup codes: 4471-9982 9921-{h6}3
license-key | license key X7K2-9QLM-4VRB-T8ZP-W3N2
passphrase | gpg passphrase: seven quiet otters dance
otp-secret | totp secret {H32} for the registrar
otp-secret | 2FA: {H4} {H4} {H4} {H4}
pin | my pin for the safe is 4471
password-hash | root:$6$¦{w16}${w86}:19000:0:99999:7:::
"""

HARMLESS = r"""
commit {h40}
Merge commit '{h40}' into main
git checkout {h7} && git cherry-pick {h40}
{h40}  refs/heads/main
sha256:{h64}
md5: {h32}
integrity sha512-{b86}==
"integrity": "sha512-{b86}==",
etag: "{h32}"
checksum = "{h64}"
--hash=sha256:{h64} \
digest: sha256:{h64}
docker pull nginx@sha256:{h64}
image: registry.acme.io/app:{h12}
id: {h8}-{h4}-4{h3}-a{h3}-{h12}
request_id={h8}-{h4}-4{h3}-a{h3}-{h12}
trace id 00-{h32}-{h16}-01
session_id: {h8}-{h4}-4{h3}-a{h3}-{h12}
toolu_01{w22} and msg_01{w22}
call_{w24}
chatcmpl-{w29}
cus_{w14} paid pi_3{w23}
evt_1{w23} of price_1{w23}
data:image/png;base64,iVBORw0KGgo{b200}==
<img src="data:image/gif;base64,R0lGOD{b120}=">
url(data:font/woff2;base64,d09GMg{b150})
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{b300} bob@laptop
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} bob@laptop
-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqh{b60}\n-----END PUBLIC KEY-----
-----BEGIN CERTIFICATE-----\nMIIDdzCC{b60}\n-----END CERTIFICATE-----
-----BEGIN PGP PUBLIC KEY BLOCK-----
A PEM file starts with -----BEGIN RSA PRIVATE KEY----- and ends with -----END RSA PRIVATE KEY-----.
the header -----BEGIN PRIVATE KEY----- is followed by base64
public_key: {b43}=
publicKeyToken="{h16}"
"publicKey": "{b43}="
age1{l58}
fingerprint SHA256:{b43}
gpg key id 0x{H16}
address 0x{h40}
txid {h64}
bc1q{l38}
password = get_password()
password = os.environ["DB_PASSWORD"]
password = os.getenv('DB_PASSWORD', '')
password: process.env.DB_PASSWORD,
password: ${DB_PASSWORD}
password: ${{ secrets.DB_PASSWORD }}
password: {{ vault_db_password }}
password: <your password>
password: <password>
password=$PASSWORD
PASSWORD="$(pass show db/prod)"
PASSWORD=changeme
POSTGRES_PASSWORD: postgres
password: example
password: "********"
password: xxxxxxxx
password: [redacted]
password: REPLACE_ME
password: your-password-here
password: 'my-secret-password'
password: null
password: string
"password": {"type": "string", "minLength": 8}
password: str = Field(min_length=12)
password: Optional[str] = None
def login(user: str, password: str) -> Token2: ...
password=password, token=token2
if password != confirm_password1:
self.password1 = forms.CharField()
passwordField2.text
password_hash: argon2id
password_reset_token_expires_in: 3600
Reset your password: see the wiki
The password is required.
The password is stored in the keychain.
the password is hashed with SHA-256
The password is at least 12 characters long.
the password is wrong again
the password was changed yesterday
The password is case-sensitive and base64-encoded
the password policy is NIST-800-63b
the password is not OAuth2-compatible
Das Passwort ist falsch.
Das Passwort ist in Bitwarden abgelegt
Le mot de passe est incorrect.
le mot de passe est obligatoire (8 caractères)
La contraseña es demasiado corta
La clave es el orden
La password è troppo corta
a senha é obrigatória
het wachtwoord is vergeten
пароль не найден
密码是必填项
Passwords must match: try again
passwordless: yes1234567
Use 1Password for the team
pwd=/home/me/project
cd "$(pwd)" && ls
PWD=/var/lib/app2
PASS: test_login_2 (0.03s)
PASS tests/unit/auth2.test.ts
pass: 128 fail: 2
first pass: 12ms, second pass: 9ms
bypass=1
compass: N42E13
passenger: Bob99
passport: C01X00T47
token=abc123
token: string
max_tokens: 4096
token_count: 123456789012
"total_tokens": 18234, "prompt_tokens": 12345
tokenizer: bert-base-uncased
tokenizer: cl100k_base_v2_2024
Token expired after 3600 seconds
the token is expired
the token is RS256-signed
const TOKEN_TYPE = "access_token"
token = tokens[i + 1]
token: AccessTokenV2Handler
TOKEN: ${{ secrets.GITHUB_TOKEN }}
token: ${GITHUB_TOKEN}
export GITHUB_TOKEN=<token>
export GITHUB_TOKEN="$(gh auth token)"
GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=your-api-key
OPENAI_API_KEY=sk-your-key-here
ANTHROPIC_API_KEY=sk-ant-...
api_key=settings.API_KEY
api_key: Optional[str] = None
api_key = config["api_key"]
api_key: YOUR_API_KEY
apiKey: process.env.API_KEY!
client_secret=$CLIENT_SECRET
secret: true
secret: /run/secrets/db_password
secretName: app-tls-2024
secretKeyRef: {name: db, key: password}
the secret: always be kind
secret santa: December 24
It is a secret2everybody
key: value
foreign key: user_id
primary key: order_id_2
cache_key=user:1234:profile:v2
sort_key: created_at_desc_2
partition_key = "tenant#1234#2024-05-01"
object_key: backups/2024/05/01/dump.sql.gz
keyboard: us-intl
public key: see README
auth_key: AuthKeyV2
license_key: none
private_key: Ed25519PrivateKey | None
api_key: _AzureApiKeyT | None,
private_key: ~/.ssh/id_ed25519
signing_key_path: /etc/app/keys/signing.pem
credentials: include
credentials: same-origin
credentials = service_account.Credentials.from_file(path)
bearer of bad news 2024 arrived yesterday
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer YOUR_ACCESS_TOKEN
Authorization: Bearer ${token}
Authorization: Basic <base64>
'Authorization': f'Bearer {token}'
headers.authorization = getAuthorizationHeader2(request)
Basic instincts and Token Ring and Bearer bonds
Set-Cookie: theme=dark; Path=/
Cookie: lang=en; theme=dark
cookie: consent=accepted_all_v2
eyJ is how JWTs begin
sk-learn is a library
sk-learn-contrib-something-very-long-name-here1
the hf_hub module
hf_hub_download(repo_id="org/model")
pypi-server version 2
npm_config_registry=https://registry.acme.io
npm_lifecycle_event=build
AIza prefix
tokens start with ghp_ or github_pat_
xoxb- tokens are for bots
gsk_ is Groq's prefix
re_compile_all_patterns_of_the_table_2
key-value-store-with-32-shards
s.replaceAllWithRegularExpression(x)
self.client.access_token_manager.refresh2()
/usr/lib/x86_64-linux-gnu/libcrypto.so.3
version: 1.2.3-beta.4+build5678
v4.0.30319
2026-02-10T12:34:56.789Z
192.168.1.10:8080:eth0:up:1
00:1a:2b:3c:4d:5e
12:30:15 main.c:42:7: error: expected ';'
mailto:someone@example.com
bob@acme.io
git@github.com:foo/bar.git
ssh://git@host:22/x
http://localhost:8080/x@y
postgres://localhost:5432/db
postgres://user:password@localhost/db
postgres://postgres:postgres@localhost:5432/app
postgres://$USER:$PASS@db/x
postgres://<user>:<password>@host/db
amqp://guest:guest@localhost:5672
https://user:***@acme.io
redis://localhost:6379/0
mongodb://localhost:27017/test
https://github.com/acme/app/blob/{h40}/src/x.py#L10
https://acme.io/?q=secret+token&page=2
mysql -u root -p
mysql -u root -p shop < dump.sql
mysql -h db -P 3306 -u root
curl -u $USER:$PASS https://x
curl -u user:password https://x
curl -u "${USER}:${TOKEN}" https://x
docker run -p 8080:80 nginx
docker login -u bob --password-stdin
ssh -p 2222 root@host
mkdir -p src/app2/models
cp -p a1b2c3 /tmp
sshpass -p "$PASS" ssh host
sshpass -p <password> ssh host
redis-cli -a $REDIS_PASSWORD ping
--password-stdin
use --password to give one
--token TOKEN
pass --token "$TOKEN" instead
IDENTIFIED BY 'password'
IDENTIFIED BY '<password>'
CREATE USER app WITH PASSWORD 'changeme';
WHERE password = $1 AND token = $2
WHERE password = :password
a library identified by 'name'
machine learning login page password field
PIN 13 is the LED
pin: 1234
GPIO pin: 17
PIN: 1234
OAuth2 with PKCE, HS256, RS256
AWS_REGION=eu-central-1
AWS_ACCOUNT_ID=123456789012
arn:aws:iam::123456789012:role/Admin2
arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf
secret: arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf
op://vault/item/password
projects/123/secrets/db/versions/4
login: alice
login failed for user admin2
Zugangsdaten: siehe Wiki
user: admin, role: editor2
mnemonic: a short word that is easy to remember when you read the code of the old machine again
recovery: started at 12:00, done
[secret:password] and [secret:github-token]
password: [secret:password]
chunk-2026-02-10-a1b2c3d4 and mem_123e4567-e89b-12d3-a456-426614174000
The password must have at least 12 characters.
the password is stored in 1Password
password: see vault entry db/prod
password = os.environ['DB_PASS']
API_KEY=<your key here>
token: str = Field(default='')
We rotate the API key every 90 days.
commit 9f3c2a7b8e1d4f6a0b5c9d8e7f2a1b3c4d5e6f7a fixes login
sha256:3f9c2a7b8e1d4f6a0b5c9d8e7f2a1b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f90
id 550e8400-e29b-41d4-a716-446655440000
mysql -p shop asks for the password
mysql -u root -p -h db
curl -u deploy: https://x
ssh -p 2222 host
mkdir -p /srv/data/secrets
the secret of good bread is time
das Passwort ist zu kurz
la contraseña es obligatoria
the password is required for login
my password manager is Bitwarden
The token is expired, log in again
the API key is missing from the request
sessionid cookie is HttpOnly
Basic authentication is off
psql postgresql://localhost:5432/app
postgres://user:password@host/db
https://user@example.org/path
redis-cli -h cache -a $REDIS_PASS ping
sshpass -f /etc/pw ssh host
--password-file /run/secrets/db
PASSWORD_MIN_LENGTH=12
passwords.txt was deleted
pass=True fail=False
compass: north
bypass: enabled
secret_name: db-credentials
from getpass import getpass
token_count = 4096
max_tokens: 1024
the passphrase should be long and odd
primary_key = 'order_id'
keyboard: qwertz
public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2k3Lm9Qw2Xz7Rt5Yv8Nb1Pc4Gd6Js0FeU eva@laptop
integrity sha512-Zk3p9Qw8Rt7Yx6Vb5Nm4Lk3Jh2Gf1Ds0Aq9We8Rt7Yu6Io5Pz4Xc3Vb2Nm1Qw0Er9Ty8Ui7Op6==
pk_live_publishable keys may be shown in the page
the pin 4 of the header is ground
version 1.4.2-rc.1+build.5
dapi is our data api
shpat means Shopify admin token
use `SecretStr` for the password field
password_hash: $2b$12$EixZaYVXK1fsbx1ZW5ig4e
UPDATE users SET password = crypt($1, gen_salt('bf'))
IDENTIFIED BY a title and a date
users log in as admin or guest
the wifi key is on the fridge
el token caduca en una hora
пароль обязателен
パスワードは必須です
AKIA prefixes mark AWS keys
x-api-key header is required
ghp_ tokens start with this prefix
ENV PASSWORD_FILE=/run/secrets/pw
the secret santa is Maria
The wifi key has 8 characters
wifi: SSID Attic, key under the router
WLAN key rotation takes a day
log in as admin / guest
Sign in with Google and GitHub
logged in as eva/production
log in as deploy@host-01.example.org
TOTP is on for GitHub
2FA with AUTHENTICATOR apps only
OTP: ENABLED FOR EVERYBODY
mfa device ARN arn:aws:iam::123456789012:mfa/eva
passphrase: at least four random words
passphrase is asked for every time you push
The passphrase should have five words or more
pin for the LED is 13
pin 2040 of the RP2040
PIN is asked for at start
the pin code has four digits
openssl req -x509 -newkey rsa:4096 -keyout key.pem -out cert.pem
openssl s_client -connect db.internal:5432 -servername db
openssl enc -d -kfile key.bin
keyboard shortcut ctrl-k
sed -i 's/key/value/'
grep -k foo
primary key (id)
foreign key user_id references users(id)
API keys live in the vault under apps/ci
The access token lasts 15 minutes
refresh_token: Mapped[str | None]
assert user.password != 'hunter'
secret=secret
if password == confirm_password:
def set_password(self, raw_password):
the secret is to keep the oven hot
his password is weak
password reset link expires in 24h
passwordless login via magic link
pwd: /home/eva/src
PWD=/srv/app
cd $PWD/build
pass the salt
Tests pass: 312, fail: 0
pass: 12/12
token bucket: 100 per minute
CSRF token mismatch
JWT tokens use HS256
max_new_tokens=2048
auth: oauth2
auth=basic
key=lambda x: x.name
sorted(keys)
ssh-keygen -t ed25519 -C eva@laptop
SHA256:k3Lm9Qw2Xz7Rt5Yv8Nb1Pc4Gd6Js0FeUa1B2c3D4e5F eva@laptop (ED25519)
image: registry.local/app@sha256:e7c3252f48186611d533430a52b14d27dc25b6f3f8372b4e95393d1884c6a946
"integrity": "sha512-fk0tPgIwFsetohSrz4W21irbQPvzORp0vMlh4TScckmsxctNl0JSpAQvaZWrc0LcpgXn4UfRyUZrf6A5QTZMCd=="
md5 b68e2c0bc48fa83056342ba3387e54e2
etag "95d8c2a97cd1453043b71575210fc1bf"
request id 9176380eaaea4320cd42ade2cdb52d55
trace_id=85d309adbef772491b27f1073b0ddc64
uuid: 123e4567-e89b-12d3-a456-426614174000
https://github.com/a/b/commit/a8657ade247953157fedff9c0a949f7a45e03a71
build 2024.11.03-1842
order number 4471-9982
the code is 404
zip code: 90210
tracking number 1Z999AA10123456784
IBAN DE89370400440532013000
session id in the log: 2026-02-10-farm
sessionStorage.setItem('theme', 'dark')
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
docker login registry.local
mysql -P 3307 -h db
psql -p 5433 -U app
cp -a src/ dst/
Enter your password:
password: ********
password: [hidden]
password: (unchanged)
"""


def rows(table: str) -> list[tuple[str, str]]:
    return [(kind, template) for line in table.strip().splitlines() for kind, _, template in [line.partition(" | ")]]
