/*
 * The extension addrspec for Ruby 3.1 and later.
 *
 * A checker is used by one thread at a time because no method gives up the lock of its Ractor
 * (GVL) while a result of the library is in use: nothing between a call and the copy of its
 * result runs Ruby code or looks for interrupts. A check takes about as long as giving up the
 * lock, two microseconds, so check_many keeps it too and looks for interrupts between results.
 * Ractors share no checker, so the extension is safe for them.
 */
#include <addrspec.h>
#include <ruby.h>
#include <ruby/encoding.h>
#include <ruby/ractor.h>

/* What a checker takes for most of its life; for the garbage collector. */
enum { CHECKER_SIZE = 3 << 20, BETWEEN_INTERRUPTS = 1024 };

static VALUE addrspec_module, checker_class, result_class, refusal_class, verdict_class, error_class, lists_error, policy_error;
static rb_ractor_local_key_t own_key;

static void checker_free(void *data) {
    if (data == NULL) return;
    addrspec_free(data);
    rb_gc_adjust_memory_usage(-CHECKER_SIZE);
}

static size_t checker_size(const void *data) { return data == NULL ? 0 : CHECKER_SIZE; }

static const rb_data_type_t checker_type = {
    "Addrspec::Checker", {NULL, checker_free, checker_size, NULL, {NULL}}, NULL, NULL, RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

static VALUE checker_allocate(VALUE class) { return TypedData_Wrap_Struct(class, &checker_type, NULL); }

static VALUE text(const char *bytes) { return bytes == NULL ? Qnil : rb_obj_freeze(rb_utf8_str_new_cstr(bytes)); }
static VALUE truth(bool fact) { return fact ? Qtrue : Qfalse; }

/* Raises the error of the last call. The message about a policy begins with the place. */
NORETURN(static void fail(const addrspec_checker *checker));
static void fail(const addrspec_checker *checker) {
    addrspec_code code = addrspec_error_code(checker);
    if (code == ADDRSPEC_ERROR_MEMORY) rb_memerror();
    const char *message = addrspec_error_message(checker), *colon = strstr(message, ": ");
    VALUE class = code == ADDRSPEC_ERROR_LISTS ? lists_error : code == ADDRSPEC_ERROR_POLICY ? policy_error : error_class;
    VALUE error = rb_exc_new_str(class, text(message));
    if (class == policy_error) rb_ivar_set(error, rb_intern("@place"), rb_obj_freeze(rb_utf8_str_new(message, colon == NULL ? 0 : colon - message)));
    rb_exc_raise(error);
}

static VALUE checker_load_lists(VALUE self, VALUE blob);

/* Checker.new(lists: nil) */
static VALUE checker_initialize(int count, VALUE *arguments, VALUE self) {
    static ID names[1];
    VALUE options, lists = Qundef;
    if (names[0] == 0) names[0] = rb_intern("lists");
    rb_scan_args(count, arguments, "0:", &options);
    rb_get_kwargs(options, names, 0, 1, &lists);
    if (RTYPEDDATA_DATA(self) == NULL) {
        if ((RTYPEDDATA_DATA(self) = addrspec_new()) == NULL) rb_memerror();
        rb_gc_adjust_memory_usage(CHECKER_SIZE);
    }
    if (lists != Qundef && !NIL_P(lists)) checker_load_lists(self, lists);
    return self;
}

/* Returns the checker of the Ractor, which the functions of the module use. */
static VALUE own_checker(void) {
    VALUE checker = rb_ractor_local_storage_value(own_key);
    if (NIL_P(checker)) rb_ractor_local_storage_value_set(own_key, checker = rb_class_new_instance(0, NULL, checker_class));
    return checker;
}

static addrspec_checker *checker_of(VALUE self) {
    addrspec_checker *checker = rb_check_typeddata(self == addrspec_module ? own_checker() : self, &checker_type);
    if (checker == NULL) rb_raise(error_class, "Addrspec::Checker was not initialized");
    return checker;
}

/* Returns a text in UTF-8. Bytes of no encoding, and those that cannot be converted, stay. */
static VALUE in_utf8(VALUE string) {
    StringValue(string);
    return rb_str_export_to_enc(string, rb_utf8_encoding());
}

static VALUE new_refusal(const addrspec_refusal *r) {
    VALUE refusal = rb_obj_alloc(refusal_class);
    rb_ivar_set(refusal, rb_intern("@code"), text(r->code));
    rb_ivar_set(refusal, rb_intern("@offset"), SIZET2NUM(r->offset));
    rb_ivar_set(refusal, rb_intern("@section"), text(r->section));
    rb_ivar_set(refusal, rb_intern("@sentence"), text(r->sentence));
    return rb_obj_freeze(refusal);
}

/* Copies a result. It runs no Ruby code. */
static VALUE new_result(VALUE email, const addrspec_result *r) {
    VALUE result = rb_obj_alloc(result_class);
    rb_ivar_set(result, rb_intern("@json"), rb_obj_freeze(rb_utf8_str_new(r->json, (long)r->json_length)));
    rb_ivar_set(result, rb_intern("@email"), rb_str_new_frozen(email));
    rb_ivar_set(result, rb_intern("@valid"), truth(r->valid));
    rb_ivar_set(result, rb_intern("@normalized"), text(r->normalized));
    rb_ivar_set(result, rb_intern("@local_part"), text(r->local_part));
    rb_ivar_set(result, rb_intern("@alias"), truth(r->alias));
    rb_ivar_set(result, rb_intern("@ascii"), truth(r->ascii));
    rb_ivar_set(result, rb_intern("@role"), text(r->role));
    rb_ivar_set(result, rb_intern("@gibberish"), truth(r->gibberish));
    rb_ivar_set(result, rb_intern("@gibberish_score"), DBL2NUM(r->gibberish_score));
    rb_ivar_set(result, rb_intern("@domain"), text(r->domain));
    rb_ivar_set(result, rb_intern("@mx"), *r->host == '\0' ? Qfalse : Qnil);
    rb_ivar_set(result, rb_intern("@disposable"), truth(r->disposable));
    rb_ivar_set(result, rb_intern("@public"), truth(r->is_public));
    rb_ivar_set(result, rb_intern("@relay"), truth(r->relay));
    rb_ivar_set(result, rb_intern("@typo"), truth(r->typo));
    rb_ivar_set(result, rb_intern("@typo_suggestion"), text(r->typo_suggestion));
    rb_ivar_set(result, rb_intern("@refusal"), r->valid ? Qnil : new_refusal(&r->refusal));
    return rb_obj_freeze(result);
}

static VALUE check_one(addrspec_checker *checker, VALUE email, unsigned flags) {
    const addrspec_result *result = addrspec_check(checker, RSTRING_PTR(email), (size_t)RSTRING_LEN(email), flags);
    if (result == NULL) fail(checker);
    return new_result(email, result);
}

/* Reads an argument and the options details: and full_suggestion:. */
static unsigned scan_check(int count, VALUE *arguments, VALUE *first) {
    static ID names[2];
    VALUE options, values[2];
    if (names[1] == 0) names[0] = rb_intern("details"), names[1] = rb_intern("full_suggestion");
    rb_scan_args(count, arguments, "1:", first, &options);
    rb_get_kwargs(options, names, 0, 2, values);
    return (values[0] != Qundef && RTEST(values[0]) ? ADDRSPEC_DETAILS : 0) | (values[1] != Qundef && RTEST(values[1]) ? ADDRSPEC_FULL_SUGGESTION : 0);
}

/* check(email, details: false, full_suggestion: false) -> Result */
static VALUE checker_check(int count, VALUE *arguments, VALUE self) {
    VALUE email;
    unsigned flags = scan_check(count, arguments, &email);
    email = in_utf8(email);
    VALUE result = check_one(checker_of(self), email, flags);
    RB_GC_GUARD(email);
    return result;
}

/* check_many(emails, details: false, full_suggestion: false) -> [Result] */
static VALUE checker_check_many(int count, VALUE *arguments, VALUE self) {
    VALUE emails;
    unsigned flags = scan_check(count, arguments, &emails);
    emails = rb_convert_type(emails, T_ARRAY, "Array", "to_a");
    addrspec_checker *checker = checker_of(self);
    VALUE results = rb_ary_new_capa(RARRAY_LEN(emails));
    for (long n = 0; n < RARRAY_LEN(emails); n++) {
        VALUE email = in_utf8(rb_ary_entry(emails, n));
        rb_ary_push(results, check_one(checker, email, flags));
        if (n % BETWEEN_INTERRUPTS == BETWEEN_INTERRUPTS - 1) rb_thread_check_ints();
    }
    RB_GC_GUARD(self);
    return results;
}

static addrspec_known known(VALUE fact) { return fact == Qundef || NIL_P(fact) ? ADDRSPEC_UNKNOWN : RTEST(fact) ? ADDRSPEC_YES : ADDRSPEC_NO; }

/* Reads the options of decide. The caller keeps the text of the exchanges. */
static addrspec_found scan_found(VALUE options, VALUE *exchanges) {
    static ID names[4];
    VALUE values[4];
    if (names[3] == 0) names[0] = rb_intern("mx"), names[1] = rb_intern("address_record"), names[2] = rb_intern("disposable"), names[3] = rb_intern("exchanges");
    rb_get_kwargs(options, names, 0, 4, values);
    *exchanges = values[3] == Qundef ? rb_ary_new() : rb_convert_type(values[3], T_ARRAY, "Array", "to_a");
    *exchanges = rb_ary_join(*exchanges, rb_str_new_cstr(" "));
    return (addrspec_found){known(values[0]), known(values[1]), values[2] != Qundef && RTEST(values[2]), StringValueCStr(*exchanges)};
}

static VALUE new_verdict(const addrspec_verdict *verdict) {
    VALUE object = rb_obj_alloc(verdict_class);
    rb_ivar_set(object, rb_intern("@json"), text(verdict->json));
    rb_ivar_set(object, rb_intern("@action"), ID2SYM(verdict->action == 'a' ? rb_intern("allow") : verdict->action == 'r' ? rb_intern("review") : rb_intern("block")));
    return rb_obj_freeze(object);
}

/* decide(policy, email, mx: nil, address_record: nil, disposable: false, exchanges: []) -> Verdict */
static VALUE checker_decide(int count, VALUE *arguments, VALUE self) {
    VALUE policy, email, options, exchanges;
    rb_scan_args(count, arguments, "2:", &policy, &email, &options);
    addrspec_found found = scan_found(options, &exchanges);
    if (RB_TYPE_P(policy, T_HASH)) policy = rb_funcall(policy, rb_intern("to_json"), 0);
    policy = in_utf8(policy);
    email = in_utf8(email);
    addrspec_checker *checker = checker_of(self);
    if (addrspec_check(checker, RSTRING_PTR(email), (size_t)RSTRING_LEN(email), 0) == NULL) fail(checker);
    const addrspec_verdict *verdict = addrspec_decide(checker, RSTRING_PTR(policy), (size_t)RSTRING_LEN(policy), &found);
    if (verdict == NULL) fail(checker);
    RB_GC_GUARD(policy);
    RB_GC_GUARD(email);
    RB_GC_GUARD(exchanges);
    return new_verdict(verdict);
}

/* load_lists(blob) -> self */
static VALUE checker_load_lists(VALUE self, VALUE blob) {
    StringValue(blob);
    addrspec_checker *checker = checker_of(self);
    if (addrspec_load_lists(checker, RSTRING_PTR(blob), (size_t)RSTRING_LEN(blob)) != ADDRSPEC_OK) fail(checker);
    RB_GC_GUARD(blob);
    return self;
}

/* The versions as JSON; lib/addrspec.rb parses them. */
static VALUE checker_versions(VALUE self) {
    addrspec_checker *checker = checker_of(self);
    const char *json = addrspec_versions(checker);
    if (json == NULL) fail(checker);
    return text(json);
}

/* Defines the methods of the class, and the functions of the module. */
static void define(const char *name, VALUE (*method)(ANYARGS), int arity) {
    rb_define_method(checker_class, name, method, arity);
    rb_define_singleton_method(addrspec_module, name, method, arity);
}

static VALUE class_named(const char *name, VALUE parent) {
    VALUE class = rb_define_class_under(addrspec_module, name, parent);
    rb_gc_register_mark_object(class);
    return class;
}

RUBY_FUNC_EXPORTED void Init_addrspec(void) {
    rb_ext_ractor_safe(true);
    addrspec_module = rb_define_module("Addrspec");
    rb_gc_register_mark_object(addrspec_module);
    checker_class = class_named("Checker", rb_cObject);
    result_class = class_named("Result", rb_cObject);
    refusal_class = class_named("Refusal", rb_cObject);
    verdict_class = class_named("Verdict", rb_cObject);
    error_class = class_named("Error", rb_eStandardError);
    lists_error = class_named("ListsError", error_class);
    policy_error = class_named("PolicyError", error_class);
    own_key = rb_ractor_local_storage_value_newkey();
    rb_define_alloc_func(checker_class, checker_allocate);
    rb_undef_method(checker_class, "initialize_copy");
    rb_define_method(checker_class, "initialize", checker_initialize, -1);
    define("check", RUBY_METHOD_FUNC(checker_check), -1);
    define("check_many", RUBY_METHOD_FUNC(checker_check_many), -1);
    define("decide", RUBY_METHOD_FUNC(checker_decide), -1);
    define("load_lists", RUBY_METHOD_FUNC(checker_load_lists), 1);
    define("versions_json", RUBY_METHOD_FUNC(checker_versions), 0);
}
