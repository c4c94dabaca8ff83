//! Kinds of secrets, as their providers publish how they look, and as files and commands hold them.

use crate::secrets::generate::{Grown, grow};

/// How a secret is told from other text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// By its own form: it may stand anywhere.
    Token,
    /// By the name beside it.
    Named,
    /// By the text around it, as a file or a command has it.
    Text,
}

use Shape::{Named, Text, Token};

#[derive(Debug)]
pub struct Kind {
    pub name: &'static str,
    pub shape: Shape,
    /// The variable people keep it in.
    pub variable: &'static str,
    /// See `grow`.
    pattern: &'static str,
}

impl Kind {
    /// The secret of this kind that is planted in one place, another one in each.
    pub fn grown(&self, place: &str) -> Grown {
        grow(self.pattern, &format!("{} in {place}", self.name))
    }
}

pub const fn kind(name: &'static str, shape: Shape, variable: &'static str, pattern: &'static str) -> Kind {
    Kind { name, shape, variable, pattern }
}

pub const KINDS: &[Kind] = &[
    // Clouds.
    kind("aws access key id", Token, "AWS_ACCESS_KEY_ID", "AKIA{x16}"),
    kind("aws temporary key id", Token, "AWS_ACCESS_KEY_ID", "ASIA{x16}"),
    kind("aws secret access key", Named, "AWS_SECRET_ACCESS_KEY", "{b40}"),
    kind("aws session token", Named, "AWS_SESSION_TOKEN", "IQoJb3JpZ2luX2Vj{b280}=="),
    kind("gcp api key", Token, "GOOGLE_API_KEY", "AIza{s35}"),
    kind("gcp access token", Token, "GOOGLE_OAUTH_ACCESS_TOKEN", "ya29.a0{s160}"),
    kind("gcp client secret", Token, "GOOGLE_CLIENT_SECRET", "GOCSPX-{s28}"),
    kind(
        "gcp service account",
        Text,
        "GOOGLE_CREDENTIALS",
        "{{\"type\": \"service_account\", \"private_key_id\": \"{h40?}\", \"private_key\": \"-----{!BEGIN} PRIVATE KEY-----\\nMIIEvQ{b58}\\n{b64}\\n{b40}=\\n-----{!END} PRIVATE KEY-----\\n\"}",
    ),
    kind(
        "azure storage",
        Text,
        "AZURE_STORAGE_CONNECTION_STRING",
        "DefaultEndpointsProtocol=https;AccountName=shopfiles;AccountKey={b86}==;EndpointSuffix=core.windows.net",
    ),
    kind("azure cosmos db", Text, "COSMOS_CONNECTION", "AccountEndpoint=https://shop.documents.azure.com:443/;AccountKey={b86}==;"),
    kind(
        "azure service bus",
        Text,
        "SERVICEBUS_CONNECTION",
        "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey={b43}=",
    ),
    kind("azure client secret", Token, "AZURE_CLIENT_SECRET", "{w3?}8Q~{s34}"),
    kind(
        "azure shared access signature",
        Text,
        "BLOB_URL",
        "https://shopfiles.blob.core.windows.net/in?sv=2024-11-04&ss=b&srt=co&sp=rl&se=2027-01-01T00:00:00Z&sig={w42}%3D",
    ),
    kind("azure devops token", Named, "AZURE_DEVOPS_EXT_PAT", "{l52}"),
    kind("digitalocean", Token, "DIGITALOCEAN_TOKEN", "dop_v1_{h64}"),
    kind("alibaba key id", Token, "ALIBABA_CLOUD_ACCESS_KEY_ID", "LTAI{w20}"),
    kind("alibaba secret", Named, "ALIBABA_CLOUD_ACCESS_KEY_SECRET", "{w30}"),
    kind("cloudflare", Named, "CLOUDFLARE_API_TOKEN", "{s40}"),
    kind("heroku", Token, "HEROKU_API_KEY", "HRKU-AA{s58}"),
    kind("fly.io", Token, "FLY_API_TOKEN", "fo1_{s43}"),
    kind("netlify", Token, "NETLIFY_AUTH_TOKEN", "nfp_{w36}"),
    kind("supabase", Token, "SUPABASE_ACCESS_TOKEN", "sbp_{h40}"),
    kind("planetscale", Token, "PLANETSCALE_PASSWORD", "pscale_pw_{s43}"),
    // Code hosts.
    kind("github personal", Token, "GITHUB_TOKEN", "ghp_{w36}"),
    kind("github fine-grained", Token, "GH_TOKEN", "github_pat_{w22}_{w59}"),
    kind("github oauth", Token, "GITHUB_OAUTH", "gho_{w36}"),
    kind("github app", Token, "GITHUB_APP_TOKEN", "ghs_{w36}"),
    kind("github refresh", Token, "GITHUB_REFRESH", "ghr_{w36}"),
    kind("gitlab personal", Token, "GITLAB_TOKEN", "glpat-{s20}"),
    kind("gitlab runner", Token, "RUNNER_TOKEN", "glrt-{s20}"),
    kind("gitlab trigger", Token, "TRIGGER_TOKEN", "glptt-{h40}"),
    kind("bitbucket", Token, "BITBUCKET_APP_PASSWORD", "ATBB{w32}"),
    kind("atlassian", Token, "ATLASSIAN_API_TOKEN", "ATATT3xFfGF0{s172}={u8}"),
    // Models.
    kind("openai project", Token, "OPENAI_API_KEY", "sk-proj-{s74}T3BlbkFJ{s74}"),
    kind("openai user", Token, "OPENAI_API_KEY", "sk-{w20}T3BlbkFJ{w20}"),
    kind("anthropic", Token, "ANTHROPIC_API_KEY", "sk-ant-api03-{s93}AA"),
    kind("anthropic login", Token, "CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-{s93}AA"),
    kind("hugging face", Token, "HF_TOKEN", "hf_{w34}"),
    kind("groq", Token, "GROQ_API_KEY", "gsk_{w52}"),
    kind("replicate", Token, "REPLICATE_API_TOKEN", "r8_{w37}"),
    kind("xai", Token, "XAI_API_KEY", "xai-{w80}"),
    kind("openrouter", Token, "OPENROUTER_API_KEY", "sk-or-v1-{h64}"),
    kind("perplexity", Token, "PERPLEXITY_API_KEY", "pplx-{w48}"),
    kind("deepseek", Token, "DEEPSEEK_API_KEY", "sk-{h32}"),
    kind("mistral", Named, "MISTRAL_API_KEY", "{w32}"),
    // Payment.
    kind("stripe secret", Token, "STRIPE_SECRET_KEY", "sk_live_{w24}"),
    kind("stripe secret, long", Token, "STRIPE_SECRET_KEY", "sk_live_51{w97}"),
    kind("stripe restricted", Token, "STRIPE_RESTRICTED_KEY", "rk_live_{w24}"),
    kind("stripe webhook", Token, "STRIPE_WEBHOOK_SECRET", "whsec_{w32}"),
    kind("square", Token, "SQUARE_ACCESS_TOKEN", "sq0atp-{s22}"),
    kind("square secret", Token, "SQUARE_APP_SECRET", "sq0csp-{s43}"),
    kind("shopify", Token, "SHOPIFY_ACCESS_TOKEN", "shpat_{h32}"),
    kind("shopify shared secret", Token, "SHOPIFY_SHARED_SECRET", "shpss_{h32}"),
    kind("braintree", Token, "BRAINTREE_ACCESS_TOKEN", "access_token$production${l16?}${h32}"),
    kind("paypal", Named, "PAYPAL_CLIENT_SECRET", "E{s79}"),
    kind("razorpay", Named, "RAZORPAY_KEY_SECRET", "{w24}"),
    // Chat.
    kind("slack bot", Token, "SLACK_BOT_TOKEN", "xoxb-{d12?}-{d13?}-{w24}"),
    kind("slack user", Token, "SLACK_USER_TOKEN", "xoxp-{d12?}-{d12?}-{d13?}-{h32}"),
    kind("slack app", Token, "SLACK_APP_TOKEN", "xapp-1-A{u10?}-{d13?}-{h64}"),
    kind("slack webhook", Token, "SLACK_WEBHOOK_URL", "https://hooks.slack.com/services/T{u10?}/B{u10?}/{w24}"),
    kind("discord bot", Token, "DISCORD_TOKEN", "MT{w24?}.G{w5?}.{s38}"),
    kind("discord webhook", Token, "DISCORD_WEBHOOK", "https://discord.com/api/webhooks/{d19?}/{s68}"),
    kind("telegram", Token, "TELEGRAM_BOT_TOKEN", "{d10?}:AA{s33}"),
    kind(
        "teams webhook",
        Token,
        "TEAMS_WEBHOOK",
        "https://shop.webhook.office.com/webhookb2/{h8?}-{h4?}-4{h3?}-8{h3?}-{h12?}@{h8?}-{h4?}-4{h3?}-9{h3?}-{h12?}/IncomingWebhook/{h32}/{h8?}-{h4?}-4{h3?}-8{h3?}-{h12?}",
    ),
    // Mail and telephone.
    kind("sendgrid", Token, "SENDGRID_API_KEY", "SG.{s22}.{s43}"),
    kind("mailgun", Token, "MAILGUN_API_KEY", "key-{h32}"),
    kind("mailchimp", Token, "MAILCHIMP_API_KEY", "{h32}-us12"),
    kind("resend", Token, "RESEND_API_KEY", "re_{w8}_{w24}"),
    kind("brevo", Token, "BREVO_API_KEY", "xkeysib-{h64}-{w16}"),
    kind("twilio", Token, "TWILIO_API_KEY", "SK{h32}"),
    kind("twilio auth token", Named, "TWILIO_AUTH_TOKEN", "{h32}"),
    // Registries.
    kind("npm", Token, "NPM_TOKEN", "npm_{w36}"),
    kind("pypi", Token, "PYPI_TOKEN", "pypi-AgEIcHlwaS5vcmc{s150}"),
    kind("rubygems", Token, "GEM_HOST_API_KEY", "rubygems_{h48}"),
    kind("crates.io", Token, "CARGO_REGISTRY_TOKEN", "cio{w32}"),
    kind("nuget", Token, "NUGET_API_KEY", "oy2{l43}"),
    kind("docker hub", Token, "DOCKERHUB_TOKEN", "dckr_pat_{s27}"),
    // Databases and brokers.
    kind("postgres url", Token, "DATABASE_URL", "postgres://shop:{w16}@db.shop.example:5432/orders"),
    kind(
        "postgres url with a thought-up password",
        Token,
        "DATABASE_URL",
        "postgresql://shop:{words}@db.shop.example/orders?sslmode=require",
    ),
    kind("mysql url", Token, "MYSQL_URL", "mysql://root:{w14}@10.1.2.3:3306/orders"),
    kind("mongodb url", Token, "MONGODB_URI", "mongodb+srv://shop:{w18}@cluster0.ab1cd.mongodb.net/orders?retryWrites=true"),
    kind("redis url", Token, "REDIS_URL", "rediss://:{w32}@cache.shop.example:6380/0"),
    kind("amqp url", Token, "AMQP_URL", "amqps://shop:{w20}@mq.shop.example/orders"),
    kind(
        "ado.net",
        Text,
        "CONNECTION_STRING",
        "Server=tcp:sql.shop.example,1433;Database=orders;User Id=shop;Password={w18};Encrypt=True;",
    ),
    kind("jdbc", Text, "JDBC_URL", "jdbc:postgresql://db.shop.example:5432/orders?user=shop&password={w18}&ssl=true"),
    kind("jdbc oracle", Text, "JDBC_URL", "jdbc:oracle:thin:shop/{w14}@db.shop.example:1521:orders"),
    kind(
        "kafka",
        Text,
        "SASL_JAAS",
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=\"shop\" password=\"{w24}\";",
    ),
    // Signed and encoded.
    kind("jwt", Token, "ID_TOKEN", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.{jwt}"),
    kind(
        "rsa key",
        Text,
        "DEPLOY_KEY",
        "-----{!BEGIN} RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA{b48}\n{b64}\n{b64}\n{b64}\n{b30}==\n-----{!END} RSA PRIVATE KEY-----",
    ),
    kind(
        "ec key",
        Text,
        "SIGNING_KEY",
        "-----{!BEGIN} EC PRIVATE KEY-----\nMHcCAQEEI{b55}\n{b64}\n{b34}==\n-----{!END} EC PRIVATE KEY-----",
    ),
    kind(
        "openssh key",
        Text,
        "SSH_KEY",
        "-----{!BEGIN} OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n{b70}\n{b70}\n{b40}==\n-----{!END} OPENSSH PRIVATE KEY-----",
    ),
    kind(
        "encrypted key",
        Text,
        "TLS_KEY",
        "-----{!BEGIN} ENCRYPTED PRIVATE KEY-----\nMIIFHDBOBgkqhkiG9w0BBQ0w{b40}\n{b64}\n{b64}\n{b20}==\n-----{!END} ENCRYPTED PRIVATE KEY-----",
    ),
    kind(
        "encrypted rsa key",
        Text,
        "TLS_KEY",
        "-----{!BEGIN} RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,{u32?}\n\n{b64}\n{b64}\n{b28}==\n-----{!END} RSA PRIVATE KEY-----",
    ),
    kind(
        "pgp key",
        Text,
        "GPG_KEY",
        "-----{!BEGIN} PGP PRIVATE KEY BLOCK-----\n\nlQVYBGV{b57}\n{b64}\n{b64}\n=aB3d\n-----{!END} PGP PRIVATE KEY BLOCK-----",
    ),
    kind("key without an end", Text, "DEPLOY_KEY", "-----{!BEGIN} RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA{b48}\n{b64}\n{b64}"),
    kind(
        "key in one line",
        Text,
        "PRIVATE_KEY",
        "PRIVATE_KEY=\"-----{!BEGIN} PRIVATE KEY-----\\nMIIEvQ{b58}\\n{b64}\\n{b36}==\\n-----{!END} PRIVATE KEY-----\\n\"",
    ),
    kind(
        "putty key",
        Text,
        "PPK",
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: deploy\nPrivate-Lines: 1\n{b43}=\nPrivate-MAC: {h64}",
    ),
    // By structure.
    kind("user and password in a url", Token, "REGISTRY_URL", "https://deploy:{w20}@git.shop.example/shop/orders.git"),
    kind("token in a git remote", Token, "REMOTE", "https://x-access-token:{w40}@git.shop.example/shop/orders.git"),
    kind("NAME=password", Text, "DB_PASSWORD", "DB_PASSWORD={w14}"),
    kind("NAME=thought-up password", Text, "SMTP_PASSWORD", "SMTP_PASSWORD={words}"),
    kind("NAME=word", Text, "DB_PASSWORD", "DB_HOST=db.shop.example\nDB_PASSWORD={word}\nDB_NAME=orders"),
    kind("url with a word for a password", Token, "DATABASE_URL", "postgres://shop:{word}@db.shop.example:5432/orders"),
    kind(
        "ado.net with a word for a password",
        Text,
        "CONNECTION_STRING",
        "Server=sql.shop.example;Database=orders;User Id=shop;Password={word};",
    ),
    kind(
        "\"password\": \"word\"",
        Text,
        "PASSWORD",
        "{{\"user\": \"shop\", \"password\": \"{word}\", \"host\": \"db.shop.example\"}",
    ),
    kind("--password=word", Text, "PASSWORD", "mysqldump --host=db.shop.example --user=shop --password={word} orders"),
    kind("PGPASSWORD=word", Text, "PGPASSWORD", "PGPASSWORD={word} psql -h db.shop.example -U shop -c 'select 1'"),
    kind("password in a sentence", Text, "PASSWORD", "The password is {words} for now."),
    kind("NAME=\"secret\"", Text, "SESSION_SECRET", "export SESSION_SECRET=\"{h64}\""),
    kind("\"password\": \"…\"", Text, "PASSWORD", "{{\"user\": \"shop\", \"password\": \"{w16}\", \"host\": \"db.shop.example\"}"),
    kind("password in code", Text, "PASSWORD", "client = connect(host, user=\"shop\", password=\"{w16}\")"),
    kind(
        "clientSecret in yaml",
        Text,
        "CLIENT_SECRET",
        "oidc:\n  clientId: shop\n  clientSecret: {w40}\n  issuer: https://login.shop.example",
    ),
    kind("bearer header", Text, "AUTHORIZATION", "Authorization: Bearer {w48}"),
    kind("basic header", Text, "AUTHORIZATION", "Authorization: Basic {basic}"),
    kind("cookie", Text, "COOKIE", "Cookie: theme=dark; session_id={w40}; csrftoken={w32}"),
    kind("set-cookie", Text, "SET_COOKIE", "Set-Cookie: sid={s43}; Path=/; HttpOnly; Secure"),
    kind("npmrc", Text, "NPMRC", "//registry.shop.example/:_authToken={h8}-{h4?}-4{h3?}-8{h3?}-{h12}"),
    kind("npmrc, old", Text, "NPMRC", "//registry.shop.example/:_auth={basic}\nalways-auth=true"),
    kind("netrc", Text, "NETRC", "machine git.shop.example\n  login deploy\n  password {w20}"),
    kind("netrc in a line", Text, "NETRC", "machine git.shop.example login deploy password {w20}"),
    kind("pgpass", Text, "PGPASS", "db.shop.example:5432:orders:shop:{w18}"),
    kind("kubeconfig token", Text, "KUBECONFIG", "users:\n- name: shop-admin\n  user:\n    token: {w60}"),
    kind(
        "kubeconfig key",
        Text,
        "KUBECONFIG",
        "users:\n- name: shop-admin\n  user:\n    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo{b180}==",
    ),
    kind("docker config", Text, "DOCKER_AUTH_CONFIG", "{{\"auths\": {{\"registry.shop.example\": {{\"auth\": \"{basic}\"}}}"),
    kind("curl -u", Text, "CURL", "curl -sf -u deploy:{w18} https://api.shop.example/v1/orders"),
    kind("mysql -p", Text, "MYSQL", "mysql -h db.shop.example -u root -p{w16} orders -e 'select 1'"),
    kind("sshpass", Text, "SSHPASS", "sshpass -p {w16} ssh deploy@10.1.2.3 uptime"),
    kind("sshpass, quoted", Text, "SSHPASS", "sshpass -p '{words}' scp dump.sql deploy@10.1.2.3:"),
    kind("PGPASSWORD", Text, "PGPASSWORD", "PGPASSWORD={w16} psql -h db.shop.example -U shop -c 'select 1'"),
    kind("docker login", Text, "DOCKER_PASSWORD", "docker login -u shop -p {w24} registry.shop.example"),
    kind("--password", Text, "PASSWORD", "mongodump --host db.shop.example --username shop --password {w18} --db orders"),
    kind("redis-cli -a", Text, "REDIS", "redis-cli -h cache.shop.example -a {w24} ping"),
    // Monitoring.
    kind("sentry", Token, "SENTRY_AUTH_TOKEN", "sntryu_{h64}"),
    kind("datadog", Named, "DD_API_KEY", "{h32}"),
    kind("datadog application", Named, "DD_APP_KEY", "{h40}"),
    kind("new relic", Token, "NEW_RELIC_API_KEY", "NRAK-{u27}"),
    kind("grafana service", Token, "GRAFANA_TOKEN", "glsa_{w32}_{h8}"),
    kind("grafana cloud", Token, "GRAFANA_CLOUD_TOKEN", "glc_{b80}="),
    kind("dynatrace", Token, "DT_API_TOKEN", "dt0c01.{u24}.{u64}"),
    kind("sonarqube", Token, "SONAR_TOKEN", "sqp_{h40}"),
    kind("pagerduty", Named, "PAGERDUTY_API_KEY", "u+{w18}"),
    // Keys to keys, and to work.
    kind("vault", Token, "VAULT_TOKEN", "hvs.{s92}"),
    kind("terraform", Token, "TFE_TOKEN", "{w14}.atlasv1.{s67}"),
    kind("pulumi", Token, "PULUMI_ACCESS_TOKEN", "pul-{h40}"),
    kind("doppler", Token, "DOPPLER_TOKEN", "dp.pt.{w43}"),
    kind("1password", Token, "OP_SERVICE_ACCOUNT_TOKEN", "ops_eyJ{b250}"),
    kind("age", Token, "SOPS_AGE_KEY", "AGE-SECRET-KEY-1{c58}"),
    kind("tailscale", Token, "TS_AUTHKEY", "tskey-auth-{w17}-{w32}"),
    kind("databricks", Token, "DATABRICKS_TOKEN", "dapi{h32}"),
    kind("artifactory", Token, "ARTIFACTORY_API_KEY", "AKCp8{w69}"),
    kind("linear", Token, "LINEAR_API_KEY", "lin_api_{w40}"),
    kind("notion", Token, "NOTION_TOKEN", "ntn_{d11}{w35}"),
    kind("figma", Token, "FIGMA_TOKEN", "figd_{s40}"),
    kind("airtable", Token, "AIRTABLE_API_KEY", "pat{w14}.{h64}"),
    kind("postman", Token, "POSTMAN_API_KEY", "PMAK-{h24}-{h34}"),
    kind("okta", Text, "OKTA_TOKEN", "Authorization: SSWS 00{s40}"),
    kind("hubspot", Token, "HUBSPOT_TOKEN", "pat-na1-{h8}-{h4?}-4{h3?}-8{h3?}-{h12}"),
    kind("circleci", Token, "CIRCLE_TOKEN", "CCIPAT_{w22}_{h40}"),
];
