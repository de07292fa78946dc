"""Tests of addrspec.pydantic with pydantic itself."""

import doctest
import importlib.util
import json
import os
import random
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Dict, List, Literal, Optional, Union
from unittest import mock

from pydantic import BaseModel, ConfigDict, EmailStr, Field, TypeAdapter, ValidationError

import addrspec
import addrspec.pydantic
from addrspec._abi import MAX_ADDRESS
from addrspec.pydantic import Email, EmailOptions
from replaced import replaced

POLICY = {"block": {"reasons": ["disposable"]}, "review": {"reasons": ["role"]}}
STRICT = Annotated[str, EmailOptions(policy=POLICY, allow_typo=False)]


def load_tests(loader, tests, pattern):
    """Adds the example of the module's page."""
    return unittest.TestSuite([tests, doctest.DocTestSuite(addrspec.pydantic)])


def error(kind, value):
    """Returns the one error of a value that kind refuses, without the value."""
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError as refused:
        (only,) = refused.errors(include_url=False)
        return only
    raise AssertionError(f"{kind} takes the value")


def refusal(kind, value):
    """Returns the type of the error of a value, None if kind accepts it."""
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError as refused:
        return refused.errors()[0]["type"]
    return None


def accepted(kind, value):
    return TypeAdapter(kind).validate_python(value)


class Pydantic(unittest.TestCase):
    def test_accepted(self):
        given = " Jane@BÜCHER.example.org "
        self.assertEqual(accepted(Email, given), "jane@bücher.example.org")
        self.assertEqual(accepted(Annotated[str, EmailOptions(output="given")], given), given)
        self.assertEqual(accepted(Email, b"Jane@Example.org"), "jane@example.org")  # as pydantic's str
        self.assertEqual(accepted(Email, "jane@gmial.com"), "jane@gmial.com")
        self.assertEqual(accepted(STRICT, "Info@Example.org"), "info@example.org")  # to review is not to refuse

    def test_in_place_of_email_str(self):
        """Without a policy it refuses what people do not type into a form; an empty policy accepts every valid address."""
        for address, code, others in replaced():
            with self.subTest(address):
                self.assertEqual(refusal(EmailStr, address) is None, "EmailStr" in others)
                self.assertEqual(refusal(Email, address), code)
                self.assertEqual(refusal(Annotated[Email, EmailOptions(policy={})], address), None if addrspec.check(address).valid else code)
        got = error(Email, "jane@gmail.cmo")
        self.assertEqual(got["msg"], "value is not a valid email address: the domain ends in no top-level domain; check what is after its last dot")
        self.assertEqual(got["ctx"]["suggestion"], "gmail.com")
        self.assertEqual(error(Annotated[Email, EmailOptions(messages={"literal": "no", "invalid": "wrong"})], "jane@[192.0.2.1]")["msg"], "no")

    def test_refused(self):
        got = error(Email, "jane.@example.org")
        self.assertEqual(got["type"], "local_part_ends_with_dot")
        self.assertEqual(got["msg"], "value is not a valid email address: the local part ends with a dot; remove it")
        self.assertEqual(got["ctx"], {"sentence": "the local part ends with a dot; remove it", "offset": 4})
        got = error(STRICT, "jane@gmial.com")
        self.assertEqual((got["type"], got["ctx"]["suggestion"]), ("typo", "gmail.com"))
        named = Annotated[str, EmailOptions(policy={"allow": {"domains": ["gmial.com"]}}, allow_typo=False)]
        self.assertEqual(TypeAdapter(named).validate_python("a@gmial.com"), "a@gmial.com", "the policy names it")
        self.assertEqual(got["msg"], "the domain looks like a misspelling of gmail.com; correct it")
        got = error(STRICT, "jane@mailinator.com")
        self.assertEqual((got["type"], got["ctx"]["reason"]), ("policy", "disposable"))
        self.assertEqual(got["msg"], "such addresses are not accepted (disposable)")

    def test_json_schema(self):
        for kind in Email, STRICT, Annotated[Email, EmailOptions(output="given")]:
            for mode in "validation", "serialization":
                self.assertEqual(TypeAdapter(kind).json_schema(mode=mode), {"type": "string", "format": "email"})
        short = Annotated[str, Field(max_length=20), EmailOptions()]
        self.assertEqual(TypeAdapter(short).json_schema(), {"type": "string", "format": "email", "maxLength": 20})
        self.assertEqual(error(short, "jane.doe.the.second@example.org")["type"], "string_too_long")

    def test_options_replace_those_of_email(self):
        self.assertEqual(accepted(Annotated[Email, EmailOptions(output="given")], "Jane@Example.org"), "Jane@Example.org")
        kind = Annotated[Email, EmailOptions(messages={"invalid": "no"}), Field(description="where we write to")]
        self.assertEqual(error(kind, "jane")["msg"], "no")

    def test_messages(self):
        kind = Annotated[str, EmailOptions(
            allow_typo=False, policy=POLICY,
            messages={"no_at": "Das @ fehlt.", "invalid": "{sentence} ({offset})", "typo": "Meinten Sie {suggestion}?", "policy": "Nicht {reason}."},
        )]  # fmt: skip
        got = [error(kind, address)["msg"] for address in ("jane", "@x", "jane@gmial.com", "jane@mailinator.com")]
        self.assertEqual(got, ["Das @ fehlt.", "the local part is missing; put it before the @ (0)", "Meinten Sie gmail.com?", "Nicht disposable."])
        self.assertEqual(error(Annotated[str, EmailOptions(allow_typo=False, messages={"invalid": "no"})], "a@gmial.com")["ctx"]["suggestion"], "gmail.com")

    def test_models(self):
        class Person(BaseModel):
            model_config = ConfigDict(strict=True, validate_assignment=True)
            email: Email
            copies: List[Email] = []
            by_name: Dict[str, Optional[Email]] = {}
            by_email: Dict[Email, int] = {}
            contact: Union[Email, Literal["none"]] = "none"

        person = Person(email="Jane@Example.org", copies=["A@Mail.example.org"], by_name={"x": None}, by_email={"C@Web.example.org": 1})
        self.assertEqual((person.copies, person.by_email, person.contact), (["a@mail.example.org"], {"c@web.example.org": 1}, "none"))
        self.assertEqual(Person.model_validate_json(person.model_dump_json()), person)
        person.email = "Joe@Example.org"
        self.assertEqual(person.email, "joe@example.org")
        for wrong in "joe", b"joe@example.org":
            with self.assertRaises(ValidationError):
                person.email = wrong
        with self.assertRaises(ValidationError) as refused:
            Person(email="a@example.org", copies=["a@example.org", "a@"])
        self.assertEqual([e["loc"] for e in refused.exception.errors()], [("copies", 1)])

    def test_wrong_options(self):
        with self.assertRaisesRegex(addrspec.PolicyRefused, r'^block\.reasons\[0\]: "disposible" is no reason') as refused:
            EmailOptions(policy={"block": {"reasons": ["disposible"]}})
        self.assertEqual(refused.exception.place, "block.reasons[0]")
        for options, kind, why in (
            ({"policy": 7}, TypeError, "policy must be a dict or the text of one, not int"),
            ({"policy": "{"}, addrspec.PolicyRefused, "line 1, column 2: "),
            ({"allow_typo": "no"}, TypeError, "allow_typo must be True or False, not str"),
            ({"output": "lower"}, ValueError, "output must be \"normalized\" or \"given\", not 'lower'"),
            ({"messages": {"no_add": "x"}}, ValueError, "messages: 'no_add' is no code"),
        ):
            with self.subTest(options), self.assertRaisesRegex(kind, why):
                EmailOptions(**options)

    def test_the_policy_is_kept(self):
        policy = {"block": {"reasons": ["role"]}}
        kind = Annotated[str, EmailOptions(policy=policy)]
        policy["block"]["reasons"][0] = "alias"
        self.assertEqual(error(kind, "info@example.org")["type"], "policy")
        self.assertEqual(accepted(kind, "jane+x@example.org"), "jane+x@example.org")

    def test_hostile(self):
        for value, kind in {
            None: "string_type", 7: "string_type", ("a@b.example",): "string_type", b"\xff@x": "string_unicode",
            "": "empty", "a\0@b.example": "control_character", "x" * 1_000_000: "address_too_long", "é" * MAX_ADDRESS: "address_too_long",
            "a@" + "b." * 500_000: "address_too_long", "a@b.example\n": "bare_lf", "\u200ba@b.example": "invisible_character",
        }.items():  # fmt: skip
            with self.subTest(repr(value)[:20]):
                self.assertEqual(error(STRICT, value)["type"], kind)
        self.assertIn(error(Email, "\ud800@x")["type"], ("malformed_utf8", "string_unicode"))
        self.assertEqual(error(Email, "secret {offset} %s@")["type"], "local_part_space")
        self.assertNotIn("secret", str(error(Email, "secret@")["ctx"]) + error(Email, "secret@")["msg"])

    def test_random_texts(self):
        source = random.Random(8)
        kind = TypeAdapter(STRICT)
        for _ in range(2000):
            address = "".join(source.choices('aé"@.. (){}%\\\0\r\n\ud8ff\u202e', k=source.randrange(12)))
            self.agrees(kind, address + source.choice(["", "@example.org", "@gmial.com", "@mailinator.com"]))

    def agrees(self, kind, address):
        facts = addrspec.check(address)
        want = facts.valid and not facts.typo and addrspec.verdict(address, POLICY).action != "block"
        try:
            self.assertEqual((kind.validate_python(address), want), (facts.normalized, True))
        except ValidationError:
            self.assertFalse(want, ascii(address))

    def test_threads(self):
        kinds = [TypeAdapter(Annotated[str, EmailOptions(policy={"block": {"domains": [f"d{n}.example"]}})]) for n in range(20)]

        def check(n):
            ok = kinds[n % 20].validate_python(f"Jane{n}@Example.org") == f"jane{n}@example.org"
            return ok and error(Email, f"jane{n}")["type"] == "no_at" and self.refuses(kinds[n % 20], f"a@d{n % 20}.example")

        with ThreadPoolExecutor(8) as threads:
            self.assertEqual(set(threads.map(check, range(400))), {True})

    @staticmethod
    def refuses(kind, address):
        try:
            kind.validate_python(address)
        except ValidationError:
            return True

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_fork(self):
        """A child validates although its parent compiled the module, for the policy, and its instances were in use."""
        checker = addrspec._default._checker
        instances = [checker._pool.instance() for _ in range(checker._size)]
        for instance in instances:
            instance.__enter__()
        self.addCleanup(lambda: [instance.__exit__(None, None, None) for instance in instances])
        child = os.fork()
        if child == 0:
            import signal

            signal.alarm(60)
            os._exit(0 if accepted(STRICT, "Jane@Example.org") == "jane@example.org" and self.refuses(TypeAdapter(STRICT), "a@mailinator.com") else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_imports(self):
        """Nothing but its own module imports a framework, and nothing but an address or a policy loads the checks."""
        program = (
            "import sys, addrspec\n"
            "assert not {'pydantic', 'django', 'rest_framework'} & set(sys.modules)\n"
            "pool = addrspec._default._checker._pool\n"
            "def loaded(): return bool(pool._idle or pool._own)\n"
            "from addrspec.pydantic import Email, EmailOptions\n"
            "from pydantic import BaseModel\n"
            "class Person(BaseModel): email: Email\n"
            "EmailOptions(allow_typo=False, output='given', messages={'no_at': 'x'})\n"
            "assert 'django' not in sys.modules and not loaded()\n"
            "Person(email='a@example.org')\n"
            "assert loaded()\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True)
        with mock.patch.dict(sys.modules, {"pydantic": None, "addrspec.pydantic": None}):
            del sys.modules["addrspec.pydantic"]
            with self.assertRaisesRegex(ImportError, r"pip install 'addrspec\[pydantic\]'"):
                import addrspec.pydantic  # noqa: F401


@unittest.skipUnless(importlib.util.find_spec("fastapi"), "there is no FastAPI of this age")
class FastAPI(unittest.TestCase):
    def test_application(self):
        from fastapi import FastAPI
        from fastapi.testclient import TestClient

        app = FastAPI()

        class Signup(BaseModel):
            email: STRICT

        @app.post("/signup")
        def sign_up(signup: Signup) -> Signup:
            return signup

        @app.get("/person")
        def person(email: Email, copy: Optional[Email] = None) -> List[Optional[str]]:
            return [email, copy]

        client = TestClient(app)
        self.assertEqual(client.post("/signup", json={"email": "Jane@Example.org"}).json(), {"email": "jane@example.org"})
        refused = client.post("/signup", json={"email": "jane@gmial.com"})
        self.assertEqual((refused.status_code, refused.json()["detail"][0]["type"]), (422, "typo"))
        self.assertEqual(refused.json()["detail"][0]["ctx"]["suggestion"], "gmail.com")
        self.assertEqual(client.get("/person", params={"email": "A+x@Example.org"}).json(), ["a+x@example.org", None])
        self.assertEqual(client.get("/person", params={"email": "a@example.org", "copy": "b"}).json()["detail"][0]["loc"], ["query", "copy"])
        self.assertEqual(client.post("/signup", content=json.dumps({"email": "\ud800@x"})).status_code, 422)
        schema = client.get("/openapi.json").json()
        self.assertEqual(schema["components"]["schemas"]["Signup"]["properties"]["email"], {"type": "string", "format": "email", "title": "Email"})
        self.assertEqual(schema["paths"]["/person"]["get"]["parameters"][0]["schema"]["format"], "email")


if __name__ == "__main__":
    unittest.main()
