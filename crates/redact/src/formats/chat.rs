//! Chat, mail, telephony, social networks.

use super::super::bytes::{ALNUM, BASE64, DIGIT, DOTTED, HEX, LOWER, Set, URL64, WORD};
use super::Need::{Digit, Mixed};
use super::{Format, exact, f, least, lit, span};

const UUID: super::Part = least(Set::of("0-9a-f-"), 36);
const PATH: Set = Set::of("a-zA-Z0-9_/@-");
const PERCENT64: Set = Set::of("a-zA-Z0-9%+/=_-");

pub(super) const FORMATS: &[Format] = &[
    f("slack-token", "xoxb-", &[least(URL64, 20)]).needs(Digit),
    f("slack-token", "xoxp-", &[least(URL64, 20)]).needs(Digit),
    f("slack-token", "xoxa-", &[least(URL64, 20)]).needs(Digit),
    f("slack-token", "xoxr-", &[least(URL64, 20)]).needs(Digit),
    f("slack-token", "xoxs-", &[least(URL64, 20)]).needs(Digit),
    f("slack-token", "xoxo-", &[least(URL64, 20)]).needs(Digit),
    f("slack-token", "xoxc-", &[least(URL64, 20)]).needs(Digit),
    f("slack-cookie", "xoxd-", &[least(PERCENT64, 20)]).needs(Digit),
    f("slack-config-token", "xoxe.", &[least(DOTTED, 30)]).needs(Digit),
    f("slack-config-token", "xoxe-", &[least(DOTTED, 30)]).needs(Digit),
    f("slack-app-token", "xapp-", &[least(URL64, 30)]).needs(Digit),
    f("slack-workflow-token", "xwfp-", &[least(URL64, 30)]).needs(Digit),
    f("slack-webhook", "hooks.slack.com/services/", &[least(PATH, 30)]).keep(),
    f("slack-webhook", "hooks.slack.com/workflows/", &[least(PATH, 30)]).keep(),
    f("slack-webhook", "hooks.slack.com/triggers/", &[least(PATH, 30)]).keep(),
    f("discord-webhook", "discord.com/api/webhooks/", &[span(DIGIT, 16, 20), lit("/"), least(URL64, 60)]).keep(),
    f("discord-webhook", "discordapp.com/api/webhooks/", &[span(DIGIT, 16, 20), lit("/"), least(URL64, 60)]).keep(),
    f("telegram-bot-token", ":AA", &[span(URL64, 32, 34)]).after(DIGIT, 10),
    f("telegram-bot-token", ":AA", &[span(URL64, 32, 34)]).after(DIGIT, 9),
    f("telegram-bot-token", ":AA", &[span(URL64, 32, 34)]).after(DIGIT, 8),
    f("telegram-bot-token", "api.telegram.org/bot", &[span(DIGIT, 8, 10), lit(":"), least(URL64, 30)]).keep(),
    f("teams-webhook", "webhook.office.com/webhookb2/", &[least(PATH, 60)]).keep(),
    f("google-chat-webhook", "chat.googleapis.com/v1/spaces/", &[least(Set::of("!#-&(-[]-_a-~"), 60)]).keep(),
    f("zapier-webhook", "hooks.zapier.com/hooks/catch/", &[least(PATH, 12)]).keep(),
    f("twilio-key", "SK", &[exact(HEX, 32)]),
    f("sendgrid-key", "SG.", &[exact(URL64, 22), lit("."), exact(URL64, 43)]),
    f("mailgun-key", "key-", &[exact(LOWER, 32)]).needs(Digit),
    f("mailchimp-key", "-us", &[span(DIGIT, 1, 2)]).after(HEX, 32),
    f("mandrill-key", "md-", &[exact(URL64, 22)]).needs(Mixed),
    f("resend-key", "re_", &[span(WORD, 24, 48)]).needs(Mixed),
    f("brevo-key", "xkeysib-", &[exact(HEX, 64), lit("-"), exact(ALNUM, 16)]),
    f("brevo-smtp-key", "xsmtpsib-", &[exact(HEX, 64), lit("-"), exact(ALNUM, 16)]),
    f("mailersend-token", "mlsn.", &[exact(HEX, 64)]),
    f("intercom-token", "dG9rO", &[least(BASE64, 40)]),
    f("hubspot-token", "pat-na1-", &[UUID]),
    f("hubspot-token", "pat-na2-", &[UUID]),
    f("hubspot-token", "pat-eu1-", &[UUID]),
    f("onesignal-key", "os_v2_app_", &[least(LOWER, 90)]),
    f("onesignal-key", "os_v2_org_", &[least(LOWER, 90)]),
    f("telnyx-key", "KEY0", &[least(WORD, 48)]),
    f("klaviyo-key", "pk_", &[exact(HEX, 34)]),
    f("matrix-token", "syt_", &[least(BASE64, 4), lit("_"), exact(ALNUM, 20), lit("_"), exact(ALNUM, 6)]),
    f("matrix-token", "mat_", &[exact(ALNUM, 30), lit("_"), exact(ALNUM, 6)]),
    f("facebook-token", "EAACEdEose0cBA", &[least(ALNUM, 20)]),
    f("facebook-token", "EAAM", &[least(ALNUM, 100)]).needs(Mixed),
    f("facebook-token", "EAAC", &[least(ALNUM, 100)]).needs(Mixed),
    f("facebook-token", "EAAG", &[least(ALNUM, 100)]).needs(Mixed),
    f("instagram-token", "IGQV", &[least(URL64, 100)]).needs(Mixed),
    f("twitter-bearer", "AAAAAAAAAAAAAAAAAAAAA", &[least(PERCENT64, 60)]).needs(Mixed),
    f("twitch-token", "oauth:", &[exact(LOWER, 30)]).needs(Digit).keep(),
    f("linkedin-secret", "WPL_AP1.", &[least(DOTTED, 16)]),
];
