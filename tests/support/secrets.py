"""Owns addresses and words that hold a secret in a form in which none should, and what they must not leave behind."""

SECRET = "geheim"

ADDRESSES = (
    f"mongodb://u:{SECRET}@h/y",
    f"mongodb://u:{SECRET} wort{SECRET}@h/y",
    f"mongodb://u v:{SECRET}@h/y",
    f"mongodb://u:ge'{SECRET}@h/y",
    f'mongodb://u:ge"{SECRET}@h/y',
    f"mongodb://u:<{SECRET}>@h/y",
    f"mongodb://u:/{SECRET}?#@:{SECRET}@h/y",
    f"mongodb://u:ab/{SECRET}@127.0.0.1:1/y",
    f"mongodb://u:12/{SECRET}@127.0.0.1:1/y",
    f"mongodb://u:ab/{SECRET}/x@127.0.0.1:1/y",
    f"mongodb://u:{SECRET}/{SECRET}.{SECRET}/{SECRET}?{SECRET}@127.0.0.1:1/y",
    f"mongodb://u:ab/{SECRET}.{SECRET}",
    f"mongodb://u:ab/{SECRET}?@127.0.0.1:1/y?w=1",
    f"mongodb://u:ab?journal={SECRET}@127.0.0.1:1/y",
    f"mongodb://u:ab?w={SECRET}&wtimeoutMS={SECRET}@127.0.0.1:1/y",
    f"mongodb://u:a@{SECRET}@h/y",
    f"mongodb://u:1\t{SECRET}\n{SECRET}@h/y",
    f"mongodb+srv://u:{SECRET}@h/y",
    f"MongoDB://u:{SECRET}@h/y",
    f"mongodb:/u:{SECRET}@h",
    f"mongodb:u:{SECRET}@h",
    f"http://u:{SECRET}@h",
    f"u:{SECRET}@h",
    f"mongodb://u:{SECRET}",
    f"mongodb://127.0.0.1:1/y?password={SECRET}",
    f"mongodb://127.0.0.1:1/y?w=1&foo={SECRET}",
    f"mongodb://127.0.0.1:1/y?w=1&{SECRET}",
    f"mongodb://127.0.0.1:1/y?w=1&proxyPassword={SECRET} {SECRET}",
    f"mongodb://127.0.0.1:1/y?tlsCertificateKeyFilePassword='{SECRET}'",
    f"mongodb://127.0.0.1:1/y?authMechanismProperties=AWS_SESSION_TOKEN:{SECRET}",
)
"""Connection strings, some of them wrong, as somebody may type them."""

ASSIGNMENTS = (
    f"db.passwd={SECRET}",
    f"db.passwd={SECRET} {SECRET}",
    f"db.passwd:{SECRET}",
    f"password={SECRET}",
    f"mongodb.token={SECRET}",
    f"some.thing={SECRET}",
    f"u:{SECRET}@h=1",
)
"""Properties that brimline doesn't know."""
