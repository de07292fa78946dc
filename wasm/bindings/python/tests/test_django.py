"""Tests of addrspec.django and addrspec.rest_framework in a project that django-admin makes.

The project has Django's own field first, and then ours: the change of a user.
"""

import copy
import importlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import addrspec
from replaced import replaced

MODELS = """
from addrspec.django import EmailValidator, validate_email
from django.db import models
from django.db.models import EmailField


class Person(models.Model):
    email = EmailField(unique=True)
    other = EmailField("the other one", blank=True, null=True, max_length=100, help_text="if any")
    text = models.CharField(max_length=300, blank=True, validators=[EmailValidator(message="no"), validate_email])
"""
OURS = (
    MODELS.replace("django.db.models import", "addrspec.django import")
    .replace("unique=True", "unique=True, allow_typo=False, policy=POLICY")
    .replace("null=True", "null=True, output='given', messages={'no_at': 'no at', 'invalid': '%(reason)s at %(offset)s'}")
    .replace("class", 'POLICY = {"block": {"reasons": ["disposable"]}}\n\n\nclass')
)
ADMIN = "from django.contrib import admin\nfrom .models import Person\nadmin.site.register(Person)\n"
SETTINGS = """
INSTALLED_APPS += ["people", "rest_framework", "drf_spectacular"]
ALLOWED_HOSTS = ["testserver"]
REST_FRAMEWORK = {"DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema"}
"""


class Project:
    """A project in a directory of its own, whose database is SQLite's."""

    def __init__(self):
        self.root = Path(tempfile.mkdtemp())
        subprocess.run([sys.executable, "-m", "django", "startproject", "mysite", str(self.root)], check=True)
        self.manage("startapp", "people")
        self.write("people/models.py", MODELS)
        self.write("people/admin.py", ADMIN)
        settings = self.root / "mysite" / "settings.py"
        self.write("mysite/settings.py", settings.read_text() + SETTINGS)
        self.manage("makemigrations")
        self.manage("migrate")
        self.write("people/models.py", OURS)

    def write(self, name, text):
        (self.root / name).write_text(text)

    def manage(self, *command, code=0):
        done = subprocess.run([sys.executable, "-B", "manage.py", *command], cwd=self.root, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr


def setUpModule():
    global project, models, forms, serializers, ours, fields, Person
    project = Project()
    sys.path.insert(0, str(project.root))
    os.environ["DJANGO_SETTINGS_MODULE"] = "mysite.settings"
    django = importlib.import_module("django")
    django.setup()
    from django import forms
    from people import models
    from people.models import Person
    from rest_framework import serializers

    import addrspec.django as ours
    import addrspec.rest_framework as fields


def tearDownModule():
    shutil.rmtree(project.root)


def errors(form):
    """Returns the messages and codes of a form's field email."""
    return [tuple(error.values()) for error in json.loads(form.errors.as_json()).get("email", [])]


class Validator(unittest.TestCase):
    def refused(self, validator, value):
        from django.core.exceptions import ValidationError

        with self.assertRaises(ValidationError) as refused:
            validator(value)
        return refused.exception

    def test_in_place_of_djangos(self):
        from django.core import validators

        self.assertIsNone(ours.validate_email("José@bücher.example.org"))
        error = self.refused(ours.validate_email, "jane.@example.org")
        self.assertEqual((error.code, error.messages), ("invalid", ["The local part ends with a dot; remove it."]))
        self.assertEqual([error.params[name] for name in ("value", "reason", "offset")], ["jane.@example.org", "local_part_ends_with_dot", 4])
        error = self.refused(ours.EmailValidator("No: %(value)s (%(suggestion)s).", "bad", ["localhost", "intranet"]), "jane")
        self.assertEqual((error.code, error.messages), ("bad", ["No: jane (None)."]))
        self.assertIsNone(ours.EmailValidator(allowlist=["intranet"])("jane@intranet"))
        self.assertEqual(self.refused(ours.EmailValidator(allowlist=["intranet"]), "jane..doe@intranet").params["reason"], "local_part_two_dots")
        self.assertIsInstance(ours.validate_email, validators.EmailValidator)

        class Mine(ours.EmailValidator):
            message = "Mine."
            code = "mine"

        self.assertEqual((self.refused(Mine(), "jane").code, self.refused(Mine(), "jane").messages), ("mine", ["Mine."]))

    def test_in_place_of_djangos_by_the_table(self):
        """Without a policy it refuses what people do not type into a form; an empty policy accepts every valid address."""
        import django
        from django.core.exceptions import ValidationError
        from django.core.validators import validate_email

        def reason(validate, address):
            try:
                validate(address)
            except ValidationError as refused:
                return refused.params.get("reason", "refused")

        class Form(serializers.Serializer):
            theirs, ours = serializers.EmailField(), fields.EmailField()

        for address, code, others in replaced():
            with self.subTest(address):
                theirs = reason(validate_email, address) is None
                if django.VERSION >= (5, 2):  # an older one accepts jane@123.456
                    self.assertEqual(theirs, "Django" in others)
                self.assertEqual(reason(ours.validate_email, address), code)
                self.assertEqual(reason(ours.EmailValidator(policy={}), address), None if addrspec.check(address).valid else code)
                form = Form(data={"theirs": address, "ours": address})
                errors = set() if form.is_valid() else set(form.errors)
                self.assertEqual(errors, {name for name, accepted in (("theirs", theirs), ("ours", code is None)) if not accepted})
        self.assertEqual(self.refused(ours.validate_email, "jane@localhost").messages, ["The domain has no dot; use an address at a full domain name, such as example.org."])

    def test_options(self):
        validator = ours.EmailValidator(policy='{"block": {"reasons": ["role"]}}', allow_typo=False, messages={"typo": "%(suggestion)s?"})
        error = self.refused(validator, "info@example.org")
        self.assertEqual((error.code, error.params["reason"], error.messages), ("policy", "role", ["Such addresses are not accepted (role)."]))
        error = self.refused(validator, "jane@gmial.com")
        self.assertEqual((error.code, error.params["reason"], error.messages), ("typo", "typo", ["gmail.com?"]))

    def test_equal(self):
        policy = {"block": {"reasons": ["role"]}}
        self.assertEqual(ours.EmailValidator(policy=policy), ours.EmailValidator(policy=dict(policy)))
        self.assertEqual(ours.EmailValidator(), ours.validate_email)
        from django.core.validators import validate_email

        for other in (
            ours.EmailValidator(policy=policy), ours.EmailValidator("x"), ours.EmailValidator(code="x"), ours.EmailValidator(allow_typo=False),
            ours.EmailValidator(messages={"typo": "x"}), ours.EmailValidator(allowlist=["localhost"]), validate_email, None,
        ):  # fmt: skip
            self.assertNotEqual(other, ours.validate_email)
            self.assertNotEqual(ours.validate_email, other)

    def test_deconstruct(self):
        from django.db.migrations.writer import MigrationWriter

        validator = ours.EmailValidator("x", policy={"block": {"reasons": ["role"]}}, allow_typo=False)
        path, args, kwargs = validator.deconstruct()
        self.assertEqual((path, args), ("addrspec.django.EmailValidator", ("x",)))
        self.assertEqual(ours.EmailValidator(*args, **kwargs), validator)
        text, imports = MigrationWriter.serialize(validator)
        self.assertEqual((eval(text, {"addrspec": addrspec}), imports), (validator, {"import addrspec.django"}))
        self.assertEqual(pickle.loads(pickle.dumps(validator)), validator)
        self.assertEqual(copy.deepcopy(validator), validator)

    def test_wrong_options(self):
        policy = {"review": {"reasons": []}, "block": {"domains": ["a.*.example"]}}
        for make in ours.EmailValidator, ours.EmailField, ours.EmailFormField, fields.EmailField:
            with self.subTest(make):
                with self.assertRaisesRegex(addrspec.PolicyRefused, r"^block\.domains\[0\]: "):
                    make(policy=policy)
                with self.assertRaisesRegex(ValueError, "messages: 'ivalid' is no code"):
                    make(messages={"ivalid": "x"})
                with self.assertRaisesRegex(TypeError, "unexpected keyword"):
                    make(allow_typos=False)
        with self.assertRaisesRegex(ValueError, "allowlist: 'my_host' is no domain of a valid address"):
            ours.EmailValidator(allowlist=["my_host"])

    def test_hostile(self):
        for value, reason in {
            None: "empty", "": "empty", 7: "no_at", b"a@b.example": "domain_character", 
            "a\0@b.example": "control_character", "\ud800@b.example": "malformed_utf8", "x" * 1_000_000: "address_too_long",
            "é" * (1 << 20): "address_too_long", "%(secret)s@": "local_part_comment", "a@b.example\n": "bare_lf",
        }.items():  # fmt: skip
            with self.subTest(repr(value)[:20]):
                error = self.refused(ours.validate_email, value)
                self.assertEqual(error.params["reason"], reason)
                self.assertNotIn("secret", str(error.messages))

    def test_languages(self):
        from django.utils.translation import gettext_lazy, override

        error = self.refused(ours.validate_email, "jane")
        lazy = self.refused(ours.EmailValidator(messages={"no_at": gettext_lazy("Enter a valid value.")}), "jane")
        with override("de"):
            self.assertEqual(error.messages, ["Gib eine gültige E-Mail Adresse an."])
            self.assertEqual(lazy.messages, ["Bitte einen gültigen Wert eingeben."])
            with mock.patch.object(ours, "gettext", lambda text: "das @ fehlt" if text.startswith("the address has no @") else text):
                self.assertEqual(error.messages, ["Das @ fehlt."])
        with override("en-gb"):
            self.assertEqual(error.messages, ["The address has no @; write it as name@domain."])
        self.assertEqual(lazy.messages, ["Enter a valid value."])


class Fields(unittest.TestCase):
    def setUp(self):
        Person.objects.all().delete()

    def form(self, instance=None, **data):
        class PersonForm(forms.ModelForm):
            class Meta:
                model = Person
                fields = "__all__"

        return PersonForm(data or None, instance=instance)

    def test_no_migration(self):
        """Our fields take the place of Django's, and change their options, without a migration."""
        self.addCleanup(project.write, "people/models.py", OURS)
        for text in OURS, OURS.replace("disposable", "role").replace("no at", "other"), MODELS:
            project.write("people/models.py", text)
            self.assertIn("No changes", project.manage("makemigrations", "--check"))
            self.assertEqual(project.manage("check").strip(), "System check identified no issues (0 silenced).")
        project.write("people/models.py", OURS.replace("max_length=100", "max_length=120"))
        project.manage("makemigrations", "--check", "--dry-run", code=1)
        migration = (project.root / "people/migrations/0001_initial.py").read_text()
        self.assertIn("models.EmailField(max_length=254, unique=True)", migration)
        self.assertIn("validators=[addrspec.django.EmailValidator(message='no'), addrspec.django.EmailValidator()]", migration)

    def test_wrong_policy_in_a_model(self):
        self.addCleanup(project.write, "people/models.py", OURS)
        project.write("people/models.py", OURS.replace("disposable", "disposible"))
        output = project.manage("check", code=1)
        self.assertIn('block.reasons[0]: "disposible" is no reason', output)
        self.assertIn("people/models.py", output)

    def test_model(self):
        from django.core.exceptions import ValidationError

        person = Person(email="Jane@Example.org", other="Jane@Example.org")
        person.full_clean()
        person.save()
        self.assertEqual((person.email, person.other), ("jane@example.org", "Jane@Example.org"))
        for address, code in {"jane.@x": "invalid", "a@gmial.com": "typo", "a@mailinator.com": "policy", "JANE@example.org": "unique", "": "blank"}.items():
            with self.subTest(address), self.assertRaises(ValidationError) as refused:
                Person(email=address).full_clean()
            self.assertEqual([e.code for e in refused.exception.error_dict["email"]], [code])
        with self.assertRaises(ValidationError) as refused:
            Person(email="a@b.example", other="@x", text="x").full_clean()
        self.assertEqual(refused.exception.message_dict, {"other": ["local_part_missing at 0"], "text": ["no", "The address has no @; write it as name@domain."]})
        Person.objects.create(email="Ann@Example.org")  # as in Django, save and queries neither validate nor normalize
        self.assertEqual(Person.objects.get(email="Ann@Example.org").email, "Ann@Example.org")

    def test_form(self):
        form = self.form(email=" Jane@Example.org ", other="Jane@Example.org")
        self.assertTrue(form.is_valid(), form.errors)
        form.save()
        self.assertEqual(Person.objects.get().email, "jane@example.org")
        self.assertEqual(Person.objects.get().other, "Jane@Example.org")
        self.assertFalse(self.form(Person.objects.get(), email="JANE@example.org", other="Jane@Example.org").has_changed())
        self.assertEqual(errors(self.form(email="JANE@example.org")), [("Person with this Email already exists.", "unique")])
        self.assertEqual(errors(self.form(email="jane@")), [("The domain is missing; put it after the @.", "invalid")])
        self.assertEqual(errors(self.form(email="a@gmial.com")), [("The domain looks like a misspelling of gmail.com; correct it.", "typo")])
        self.assertEqual(errors(self.form(email="a@mailinator.com")), [("Such addresses are not accepted (disposable).", "policy")])
        self.assertEqual(self.form(email="a@b.example", other="x").errors, {"other": ["no at"]})
        html = str(self.form(email="<b@example.org>"))
        for part in ('<input type="email" name="email" value="&lt;b@example.org&gt;" maxlength="254"', 'id="id_email"', 'maxlength="100"', "angle bracket"):
            self.assertIn(part, html)

    def test_form_field(self):
        class Form(forms.Form):
            email = ours.EmailFormField(required=False, error_messages={"invalid": "Not %(reason)s.", "typo": "%(suggestion)s?"}, allow_typo=False)

        for data, want in {"jane": [("Not no_at.", "invalid")], "a@gmial.com": [("gmail.com?", "typo")], "": [], "a\0@x": None, "x" * 1_000_000: None}.items():
            got = errors(Form({"email": data}))
            self.assertEqual(bool(got) if want is None else got, True if want is None else want)
        form = Form({"email": ' Jane@BÜCHER.example.org'})
        self.assertTrue(form.is_valid())
        self.assertEqual(form.cleaned_data, {"email": "jane@bücher.example.org"})
        self.assertIn('type="email"', str(form))

    def test_other_form_fields(self):
        class Mine(ours.EmailFormField):
            pass

        field = Person._meta.get_field("email")
        self.assertEqual(type(field.formfield(form_class=forms.CharField)), forms.CharField)
        self.assertEqual(field.formfield(form_class=Mine).email, field.email)

    def test_admin(self):
        from django.contrib.auth.models import User
        from django.test import Client

        User.objects.all().delete()
        client = Client()
        client.force_login(User.objects.create_superuser("admin", "admin@example.org", "x"))
        page = client.get("/admin/people/person/add/").content.decode()
        self.assertIn('<input type="email" name="email" class="vTextField" maxlength="254" required', page)
        page = client.post("/admin/people/person/add/", {"email": "jane@gmial.com", "other": ""}).content.decode()
        self.assertIn("The domain looks like a misspelling of gmail.com; correct it.", page)
        done = client.post("/admin/people/person/add/", {"email": "Jane@Example.org", "other": "", "text": ""})
        self.assertEqual((done.status_code, Person.objects.get().email), (302, "jane@example.org"))
        page = client.get(f"/admin/people/person/{Person.objects.get().pk}/change/").content.decode()
        self.assertIn('value="jane@example.org"', page)

    def test_threads(self):
        addresses = {"Jane@Example.org": [], "jane": ["invalid"], "a@gmial.com": ["typo"], "a@mailinator.com": ["policy"]}

        def check(n):
            address = list(addresses)[n % 4]
            try:
                Person._meta.get_field("email").clean(address, None)
                return addresses[address] == []
            except Exception as error:
                return [e.code for e in error.error_list] == addresses[address]

        with ThreadPoolExecutor(8) as threads:
            self.assertEqual(set(threads.map(check, range(400))), {True})

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_fork(self):
        """The child of a process that has loaded the models, and so compiled the policy, validates."""
        program = (
            "import os, signal, django\n"
            "django.setup()\n"
            "from people.models import Person\n"
            "child = os.fork()\n"
            "signal.alarm(60)\n"
            "if child == 0: os._exit(0 if Person._meta.get_field('email').clean('A@B.example', None) == 'a@b.example' else 1)\n"
            "raise SystemExit(os.waitpid(child, 0)[1])"
        )
        subprocess.run([sys.executable, "-B", "-c", program], cwd=project.root, timeout=70, check=True)


class RestFramework(unittest.TestCase):
    def setUp(self):
        Person.objects.all().delete()

    def serializer(self, **options):
        class Signup(serializers.Serializer):
            email = fields.EmailField(**options)

        return lambda email: Signup(data={"email": email})

    def codes(self, serializer):
        serializer.is_valid()
        return [(str(error), error.code) for error in serializer.errors.get("email", [])]

    def test_serializer(self):
        signup = self.serializer(allow_typo=False, policy={"block": {"reasons": ["disposable"]}})
        accepted = signup(" Jane@Example.org ")
        self.assertTrue(accepted.is_valid())
        self.assertEqual(accepted.validated_data, {"email": "jane@example.org"})
        for address, error in {
            "jane.@x": ("The local part ends with a dot; remove it.", "invalid"),
            "a@gmial.com": ("The domain looks like a misspelling of gmail.com; correct it.", "typo"),
            "a@mailinator.com": ("Such addresses are not accepted (disposable).", "policy"),
            "": ("This field may not be blank.", "blank"),
            None: ("This field may not be null.", "null"),
            True: ("Enter a valid email address.", "invalid"),
            ("a@b.example",): ("Enter a valid email address.", "invalid"),
            7: ("The address has no @; write it as name@domain.", "invalid"),
        }.items():
            with self.subTest(address):
                self.assertEqual(self.codes(signup(address)), [error])
        for hostile in "a\0@b.example", "\ud800@b.example", "x" * 1_000_000, "%(value)s@", b"a@b.example":
            self.assertEqual({code for _, code in self.codes(signup(hostile))} - {"null_characters_not_allowed", "surrogate_characters_not_allowed"}, {"invalid"})
        self.assertTrue(self.serializer(output="given", allow_null=True)(None).is_valid())

    def test_messages(self):
        self.assertEqual(self.codes(self.serializer(error_messages={"invalid": "No (%(reason)s)."})("jane")), [("No (no_at).", "invalid")])
        self.assertEqual(self.codes(self.serializer(messages={"no_at": "no at"})("jane")), [("no at", "invalid")])

    def test_a_policy_is_verified_once(self):
        signup = self.serializer(policy={"block": {"reasons": ["role"]}})
        with mock.patch("addrspec._rule.verdict_many", side_effect=AssertionError("it is verified again")):
            self.assertEqual(self.codes(signup("info@example.org")), [("Such addresses are not accepted (role).", "policy")])
            self.assertIn("policy={'block': {'reasons': ['role']}}", repr(signup("")))

    def model_serializer(self, **extra):
        class PersonSerializer(serializers.ModelSerializer):
            class Meta:
                model = Person
                fields = "__all__"
                extra_kwargs = {"email": extra} if extra else {}

        return PersonSerializer

    def test_model_serializer(self):
        """It has the options of the model, and those of its own."""
        serializer = self.model_serializer()(data={"email": "Jane@Example.org", "other": "Jane@Example.org"})
        self.assertTrue(serializer.is_valid(), serializer.errors)
        serializer.save()
        self.assertEqual(serializer.data["email"], "jane@example.org")
        self.assertEqual(serializer.data["other"], "Jane@Example.org")
        self.assertEqual([type(f) for f in self.model_serializer()().fields.values()][1:3], [fields.EmailField] * 2)
        for extra, address, want in (
            ({}, "a@gmial.com", ("The domain looks like a misspelling of gmail.com; correct it.", "typo")),
            ({}, "JANE@example.org", (mock.ANY, "unique")),
            ({"allow_typo": True}, "a@mailinator.com", ("Such addresses are not accepted (disposable).", "policy")),
            ({"error_messages": {"invalid": "No."}}, "x", ("No.", "invalid")),
        ):
            with self.subTest(extra):
                self.assertEqual(self.codes(self.model_serializer(**extra)(data={"email": address})), [want])
        self.assertEqual(self.codes(self.model_serializer(allow_typo=True)(data={"email": "a@gmial.com"})), [])

    def test_openapi(self):
        from drf_spectacular.generators import SchemaGenerator
        from drf_spectacular.validation import validate_schema
        from rest_framework import routers, viewsets
        from rest_framework.schemas.openapi import AutoSchema

        class People(viewsets.ModelViewSet):
            queryset = Person.objects.all()
            serializer_class = self.model_serializer()

        router = routers.SimpleRouter()
        router.register("people", People)
        schema = SchemaGenerator(patterns=router.urls).get_schema(request=None, public=True)
        validate_schema(schema)
        self.assertEqual(schema["components"]["schemas"]["Person"]["properties"]["email"], {"type": "string", "format": "email", "maxLength": 254})
        self.assertEqual(AutoSchema().map_field(fields.EmailField(policy="{}")), {"type": "string", "format": "email"})


class Imports(unittest.TestCase):
    def test_imports(self):
        """Nothing but an address or a policy loads the checks, and Django's module does not import pydantic or the REST framework."""
        program = (
            "import sys, addrspec.django\n"
            "pool = addrspec._default._checker._pool\n"
            "addrspec.django.EmailFormField(allow_typo=False)\n"
            "assert not {'pydantic', 'rest_framework'} & set(sys.modules) and not (pool._idle or pool._own)\n"
        )
        settings = "from django.conf import settings; settings.configure(); "
        subprocess.run([sys.executable, "-c", settings + program], check=True)
        for module, package, extra in ("django", "django", "django"), ("rest_framework", "rest_framework", "rest-framework"):
            with mock.patch.dict(sys.modules, {package: None}):
                del sys.modules[f"addrspec.{module}"]
                with self.assertRaisesRegex(ImportError, rf"pip install 'addrspec\[{extra}\]'"):
                    importlib.import_module(f"addrspec.{module}")


if __name__ == "__main__":
    unittest.main()
