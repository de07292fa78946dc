//! The crate as its users see it.

use std::error::Error as _;
use std::sync::Arc;

use addrspec::{Action, Checker, Details, Error, Found, MAX_ADDRESS, RefusalCode, Role};

fn checker() -> Checker {
    Checker::new().expect("the module starts")
}

#[test]
fn has_every_fact() {
    let facts = checker().explain("Support+eu@Gmial.com").unwrap();
    assert!(facts.valid && facts.alias && facts.ascii && facts.typo);
    assert!(!facts.gibberish && !facts.disposable && !facts.public && !facts.relay);
    assert_eq!(facts.email, "Support+eu@Gmial.com");
    assert_eq!(facts.normalized.as_deref(), Some("support+eu@gmial.com"));
    assert_eq!(facts.local_part.as_deref(), Some("Support+eu"));
    assert_eq!(facts.domain.as_deref(), Some("gmial.com"));
    assert_eq!(
        (facts.role, facts.mx, facts.gibberish_score),
        (Some(Role::Support), None, 0.0)
    );
    assert_eq!(facts.typo_suggestion.as_deref(), Some("gmail.com"));
    let details = facts.details.unwrap();
    assert_eq!(details.role_evidence.unwrap().matched, "word");
    assert_eq!(details.typo_evidence.unwrap().edits[0].kind, "transposition");
    assert_eq!(details.versions, checker().versions().unwrap());
    assert!(details.form.is_empty() && details.exchange.is_none());
}

#[test]
fn names_what_is_unusual_about_the_form() {
    let details = checker().explain("jane@[192.0.2.1]").unwrap().details;
    assert_eq!(details.unwrap().form, ["literal"]);
    let details = checker().explain(r#""a b"@printer.local"#).unwrap().details;
    assert_eq!(details.unwrap().form, ["quoted", "unknown_tld", "special_use"]);
}

#[test]
fn reads_the_details_of_other_hosts() {
    let details = checker().explain("jane@example.org").unwrap().details;
    let mut json = serde_json::to_value(details.unwrap()).unwrap();
    json["exchange"] = serde_json::json!({"class": "own", "provider": null, "entry": null,
        "host": "mx.example.org", "address_record": null});
    let with_dns: Details = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(with_dns.exchange.unwrap().host.as_deref(), Some("mx.example.org"));
    let members = json.as_object_mut().unwrap();
    members.remove("form");
    members.remove("exchange"); // a module of interface 2.0
    let older: Details = serde_json::from_value(json).unwrap();
    assert!(older.form.is_empty() && older.exchange.is_none());
}

#[test]
fn serializes_with_mx_null() {
    let facts = checker().check("jane@example.org").unwrap();
    let json = serde_json::to_string(&facts).unwrap();
    assert!(facts.json().contains(r#""mx":null"#));
    for address in ["jane@[192.0.2.1]", "jane"] {
        assert_eq!(checker().check(address).unwrap().mx, Some(false));
    }
    assert!(
        json.contains(r#""mx":null"#) && !json.contains("details"),
        "{json}"
    );
}

#[test]
fn a_refusal_is_a_result() {
    let facts = checker().explain("").unwrap();
    assert!(!facts.valid && facts.normalized.is_none() && facts.domain.is_none());
    let refusal = facts.details.unwrap().refusal.unwrap();
    assert_eq!((refusal.code, refusal.offset), (RefusalCode::Empty, 0));
    assert_eq!(refusal.suggestion, None);
    let meant = checker()
        .explain("jane@example,org")
        .unwrap()
        .details
        .unwrap()
        .refusal
        .unwrap();
    assert_eq!(meant.suggestion.as_deref(), Some("jane@example.org"));
}

#[test]
fn takes_bytes_that_are_not_utf8() {
    let facts = checker().check(b"j\xff\0ne@example.org").unwrap();
    assert!(!facts.valid && !facts.ascii);
    assert_eq!(facts.email, "j\u{fffd}\0ne@example.org");
}

#[test]
fn refuses_an_address_over_one_mebibyte_before_any_work() {
    let (long, longer) = (vec![b'x'; MAX_ADDRESS], vec![b'x'; MAX_ADDRESS + 1]);
    assert!(!checker().check(&long).unwrap().valid);
    assert_eq!(checker().check_many(&[&long, &long]).unwrap().len(), 2);
    let error = checker().check_many(&[&long, &longer]).unwrap_err();
    assert_eq!(
        error,
        Error::AddressTooLong {
            index: 1,
            length: MAX_ADDRESS + 1
        }
    );
    assert_eq!(
        error.to_string(),
        "address 1 (from 0) has 1048577 bytes; at most 1048576 are accepted: shorten or leave it out"
    );
    assert!(error.source().is_none());
}

// Lengths around the limits of a call: its piece of the input, and the input without
// room for a length.
#[test]
fn many_gives_what_one_gives() {
    let checker = checker();
    let lengths = [
        0,
        1,
        5,
        16379,
        16380,
        16381,
        16384,
        70_000,
        MAX_ADDRESS - 5,
        MAX_ADDRESS - 4,
        MAX_ADDRESS - 3,
    ];
    let mut addresses: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![b'\n'; length]).collect();
    addresses.extend((0..3000).map(|n| format!("jane{n}@example{}.org", n % 7).into_bytes()));
    for (address, facts) in addresses.iter().zip(checker.check_many(&addresses).unwrap()) {
        assert!(
            facts == checker.check(address).unwrap(),
            "of {} bytes",
            address.len()
        );
    }
    assert!(checker.check_many::<&str>(&[]).unwrap().is_empty());
}

#[test]
fn full_suggestion_is_per_handle() {
    let checker = checker();
    let full = checker.full_suggestion(true);
    assert_eq!(
        full.check("jane@gmial.com").unwrap().typo_suggestion.as_deref(),
        Some("jane@gmail.com")
    );
    assert_eq!(
        checker
            .check("jane@gmial.com")
            .unwrap()
            .typo_suggestion
            .as_deref(),
        Some("gmail.com")
    );
    assert_eq!(
        full.full_suggestion(false)
            .check("jane@gmial.com")
            .unwrap()
            .typo_suggestion
            .as_deref(),
        Some("gmail.com")
    );
}

#[test]
fn threads_share_a_checker_with_fewer_instances() {
    let checker = Arc::new(
        Checker::builder()
            .instances(2.try_into().unwrap())
            .build()
            .unwrap(),
    );
    let threads: Vec<_> = (0..8)
        .map(|n| {
            let checker = Arc::clone(&checker);
            std::thread::spawn(move || {
                for turn in 0..50 {
                    let address = format!("t{n}x{turn}@example.org");
                    assert_eq!(checker.check(&address).unwrap().email, address);
                    assert_eq!(checker.check_many(&[&address]).unwrap()[0].email, address);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn damaged_lists_change_nothing() {
    let checker = checker();
    let before = checker.versions().unwrap();
    for blob in [&b""[..], b"x", &[0; 4096], &vec![0; (4 << 20) + 1]] {
        assert!(
            matches!(checker.set_lists(blob), Err(Error::ListsRefused(_))),
            "of {} bytes",
            blob.len()
        );
    }
    assert_eq!(checker.versions().unwrap(), before);
    assert!(matches!(
        Checker::builder().lists(b"x").build(),
        Err(Error::ListsRefused(_))
    ));
}

#[test]
fn refuses_other_modules() {
    for (wasm, why) in [
        (&b"not a module"[..], "the engine failed"),
        (b"\0asm\x01\0\0\0", "the engine failed"), // without exports
    ] {
        let error = Checker::builder().module(wasm).build().unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
    }
}

// A log that prints what it has must not get the address.
#[test]
fn debug_has_no_address() {
    let facts = checker().explain("jane@mail.example").unwrap();
    assert_eq!(format!("{facts:?}"), "Facts { valid: true, .. }");
    assert_eq!(
        format!("{:?}", checker()),
        "Checker { full_suggestion: false, .. }"
    );
}

fn is_send_and_sync<T: Send + Sync + 'static>() {}

#[test]
fn types_cross_threads() {
    is_send_and_sync::<Checker>();
    is_send_and_sync::<addrspec::Facts>();
    is_send_and_sync::<Error>();
}

#[test]
fn decides_by_a_policy() {
    let checker = checker();
    let policy = checker
        .policy(
            r#"{"allow": {"domains": ["corp.example"]}, "block": {"reasons": ["disposable", "no_mail"]}}"#,
        )
        .unwrap();
    let verdict = checker
        .verdict("jane@mailinator.com", &policy, Found::default())
        .unwrap();
    assert_eq!(
        (verdict.action, verdict.reason.as_deref(), verdict.rule.as_deref()),
        (Action::Block, Some("disposable"), Some("block.reasons[0]"))
    );
    assert_eq!(
        verdict.json(),
        r#"{"action":"block","reason":"disposable","rule":"block.reasons[0]"}"#
    );
    let found = Found {
        mx: Some(false),
        address_record: Some(false),
        disposable: false,
    };
    let verdict = checker.verdict("jane@example.org", &policy, found).unwrap();
    assert_eq!(verdict.reason.as_deref(), Some("no_mail"));
    let verdict = checker.verdict("jane@corp.example", &policy, found).unwrap();
    assert_eq!(verdict.action, Action::Allow);
    let long = checker.verdict(vec![b'x'; MAX_ADDRESS + 1], &policy, found);
    assert!(matches!(long, Err(Error::AddressTooLong { .. })));
    let refused = checker
        .policy(r#"{"block": {"reasons": ["disposible"]}}"#)
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        r#"the policy was refused: block.reasons[0]: "disposible" is no reason; did you mean "disposable"?"#
    );
    assert!(matches!(
        checker.policy(&"x".repeat(3 << 20)),
        Err(Error::PolicyRefused { .. })
    ));
}

#[test]
fn decides_by_addresses_and_exchanges() {
    let checker = checker();
    let policy = checker
        .policy(r#"{"block": {"addresses": ["j.doe@gmail.com"], "exchanges": ["*.burner.example"]}}"#)
        .unwrap();
    let verdict = |address: &[u8], exchanges: &[&str]| {
        checker.verdict_with_exchanges(address, &policy, Found::default(), exchanges)
    };
    let reason = |address: &[u8], exchanges: &[&str]| verdict(address, exchanges).unwrap().reason;
    assert_eq!(reason(b"JDoe+x@googlemail.com", &[]).as_deref(), Some("address"));
    assert_eq!(
        reason(b"jane@example.org", &["mx.burner.example"]).as_deref(),
        Some("exchange")
    );
    assert_eq!(reason(b"jane@example.org", &["mx.burner.example", "*"]), None);
    assert_eq!(
        reason(&vec![b'x'; MAX_ADDRESS], &["mx.burner.example"]).as_deref(),
        Some("invalid")
    );
    let many = verdict(b"jane@example.org", &["mx.example"; 5000]);
    assert_eq!(many, Err(Error::ExchangesTooLong { length: 70_000 }));
}

// More policies than an instance has, refused ones between them, and threads: each gets its own.
#[test]
fn keeps_policies_apart() {
    let checker = Checker::builder()
        .instances(2.try_into().unwrap())
        .build()
        .unwrap();
    std::thread::scope(|threads| {
        for first in 0..4 {
            let checker = &checker;
            threads.spawn(move || {
                for n in (first..80).map(|n| n % 40) {
                    assert!(checker.policy("7").is_err());
                    let policy = checker
                        .policy(&format!(r#"{{"block": {{"domains": ["d{n}.example"]}}}}"#))
                        .unwrap();
                    let action = |n: usize| {
                        let address = format!("a@d{n}.example");
                        checker
                            .verdict(address, &policy, Found::default())
                            .unwrap()
                            .action
                    };
                    assert_eq!((action(n), action(n + 1)), (Action::Block, Action::Allow));
                }
            });
        }
    });
}
