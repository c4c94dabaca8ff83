//! Payment, shops, shipping.

use super::super::bytes::{ALL64, ALNUM, ANY_HEX, BASE64, HEX, LOWER, Set, URL64};
use super::Need::{Mixed, Random};
use super::{Format, exact, f, least, lit, span};

const UUID: super::Part = least(Set::of("0-9a-f-"), 36);

pub(super) const FORMATS: &[Format] = &[
    f("stripe-key", "sk_live_", &[least(ALNUM, 16)]),
    f("stripe-key", "sk_test_", &[least(ALNUM, 16)]),
    f("stripe-key", "sk_prod_", &[least(ALNUM, 16)]),
    f("stripe-key", "rk_live_", &[least(ALNUM, 16)]),
    f("stripe-key", "rk_test_", &[least(ALNUM, 16)]),
    f("stripe-key", "rk_prod_", &[least(ALNUM, 16)]),
    f("stripe-key", "ek_live_", &[least(ALNUM, 16)]),
    f("stripe-webhook-secret", "whsec_", &[least(ALL64, 24)]),
    f("square-token", "EAAA", &[least(URL64, 56)]).needs(Mixed),
    f("square-token", "sq0atp-", &[least(URL64, 22)]),
    f("square-secret", "sq0csp-", &[least(URL64, 43)]),
    f("braintree-token", "access_token$production$", &[exact(LOWER, 16), lit("$"), exact(HEX, 32)]),
    f("braintree-token", "access_token$sandbox$", &[exact(LOWER, 16), lit("$"), exact(HEX, 32)]),
    f("adyen-key", "AQE", &[least(BASE64, 40), lit("-"), least(BASE64, 20), lit("-"), least(Set::of("!-&(-[]-~"), 10)]),
    f("plaid-token", "access-production-", &[UUID]),
    f("plaid-token", "access-development-", &[UUID]),
    f("plaid-token", "access-sandbox-", &[UUID]),
    f("shopify-token", "shpat_", &[exact(ANY_HEX, 32)]),
    f("shopify-token", "shpca_", &[exact(ANY_HEX, 32)]),
    f("shopify-token", "shppa_", &[exact(ANY_HEX, 32)]),
    f("shopify-secret", "shpss_", &[exact(ANY_HEX, 32)]),
    f("razorpay-key", "rzp_live_", &[least(ALNUM, 14)]),
    f("razorpay-key", "rzp_test_", &[least(ALNUM, 14)]),
    f("flutterwave-key", "FLWSECK_TEST-", &[least(URL64, 32)]),
    f("flutterwave-key", "FLWSECK-", &[least(URL64, 32)]),
    f("payment-live-key", "live_", &[span(URL64, 30, 64)]).needs(Mixed),
    f("paddle-key", "pdl_live_apikey_", &[least(ALNUM, 26)]),
    f("paddle-key", "pdl_sdbx_apikey_", &[least(ALNUM, 26)]),
    f("paddle-secret", "pdl_ntfset_", &[least(ALNUM, 40)]),
    f("xendit-key", "xnd_production_", &[least(ALNUM, 30)]),
    f("xendit-key", "xnd_development_", &[least(ALNUM, 30)]),
    f("midtrans-key", "Mid-server-", &[least(URL64, 20)]),
    f("duffel-token", "duffel_live_", &[least(ALL64, 40)]),
    f("duffel-token", "duffel_test_", &[least(ALL64, 40)]),
    f("easypost-key", "EZAK", &[exact(ALNUM, 54)]),
    f("easypost-key", "EZTK", &[exact(ALNUM, 54)]),
    f("shippo-token", "shippo_live_", &[exact(HEX, 40)]),
    f("shippo-token", "shippo_test_", &[exact(HEX, 40)]),
    f("polar-token", "polar_oat_", &[least(URL64, 24)]),
    f("polar-token", "polar_pat_", &[least(URL64, 24)]),
    f("coinbase-key", "organizations/", &[UUID, lit("/apiKeys/"), UUID]).needs(Random),
    f("amazon-mws-token", "amzn.mws.", &[UUID]),
    f("amazon-oauth-secret", "amzn1.oa2-cs.v1.", &[least(HEX, 60)]),
    f("checkout-com-key", "sk_sbox_", &[least(ALNUM, 20)]),
];
