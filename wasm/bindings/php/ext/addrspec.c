/*
 * The extension addrspec for PHP 8.1 and later. The functions use a checker of the process, or
 * of the thread, which the first call makes: after php-fpm has forked its workers, each of
 * which has its own. No code of a script runs while a result of the library is in use.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <addrspec.h>
#include <php.h>
#include <php_ini.h>
#include <ext/json/php_json.h>
#include <ext/spl/spl_exceptions.h>
#include <ext/standard/info.h>
#include <ext/standard/php_string.h>
#include <zend_exceptions.h>
#include <zend_interfaces.h>

#include "addrspec_arginfo.h"

/* The longest file of lists that is read. The library refuses shorter ones too. */
#define LONGEST_LISTS (8 << 20)

ZEND_BEGIN_MODULE_GLOBALS(addrspec)
    addrspec_checker *checker;
    char *lists;
ZEND_END_MODULE_GLOBALS(addrspec)

ZEND_DECLARE_MODULE_GLOBALS(addrspec)
#define OWN(member) ZEND_MODULE_GLOBALS_ACCESSOR(addrspec, member)

#if defined(ZTS) && defined(COMPILE_DL_ADDRSPEC)
ZEND_TSRMLS_CACHE_DEFINE()
#endif

static zend_class_entry *checker_class, *result_class, *refusal_class, *verdict_class, *exception_class, *lists_class, *policy_class;
static zend_object_handlers checker_handlers;

/* An object of class Checker. The constructor makes its checker. */
struct holder {
    addrspec_checker *checker;
    zend_object object;
};

static struct holder *held(zend_object *object) { return (struct holder *)((char *)object - offsetof(struct holder, object)); }

static zend_object *new_holder(zend_class_entry *class) {
    struct holder *holder = zend_object_alloc(sizeof *holder, class);
    holder->checker = NULL;
    zend_object_std_init(&holder->object, class);
    object_properties_init(&holder->object, class);
    holder->object.handlers = &checker_handlers;
    return &holder->object;
}

static void free_holder(zend_object *object) {
    addrspec_free(held(object)->checker);
    zend_object_std_dtor(object);
}

/* Throws the error of the last call. The message about a policy begins with the place. */
static void throw_error(const addrspec_checker *checker, const char *before) {
    addrspec_code code = addrspec_error_code(checker);
    const char *message = addrspec_error_message(checker);
    zend_class_entry *class = code == ADDRSPEC_ERROR_LISTS ? lists_class : code == ADDRSPEC_ERROR_POLICY ? policy_class : exception_class;
    zend_object *exception = zend_throw_exception_ex(class, code, "%s%s", before, message);
    if (class != policy_class) return;
    const char *colon = strstr(message, ": ");
    ZVAL_STRINGL(OBJ_PROP_NUM(exception, class->default_properties_count - 1), message, colon == NULL ? 0 : colon - message);
}

/* Reads the lists that the setting names, which the administrator chose. */
static bool load_setting(addrspec_checker *checker, char *path) {
    php_stream *stream = php_stream_open_wrapper(path, "rb", STREAM_DISABLE_OPEN_BASEDIR, NULL);
    zend_string *blob = stream == NULL ? NULL : php_stream_copy_to_mem(stream, LONGEST_LISTS, 0);
    if (stream != NULL) php_stream_close(stream);
    if (blob == NULL) return zend_throw_exception_ex(lists_class, ADDRSPEC_ERROR_LISTS, "addrspec.lists: %s cannot be read", path), false;
    addrspec_code code = addrspec_load_lists(checker, ZSTR_VAL(blob), ZSTR_LEN(blob));
    zend_string_release(blob);
    if (code != ADDRSPEC_OK) throw_error(checker, "addrspec.lists: ");
    return code == ADDRSPEC_OK;
}

/* Returns the checker of the process or thread, or NULL with an exception. */
static addrspec_checker *own_checker(void) {
    if (OWN(checker) != NULL) return OWN(checker);
    addrspec_checker *checker = addrspec_new();
    if (checker == NULL) return throw_error(NULL, ""), NULL;
    if (OWN(lists) != NULL && *OWN(lists) != '\0' && !load_setting(checker, OWN(lists))) return addrspec_free(checker), NULL;
    return OWN(checker) = checker;
}

/* Returns the checker of a method's object, or for a function that of the process. */
static addrspec_checker *find_checker(zval *object) {
    if (object == NULL) return own_checker();
    addrspec_checker *checker = held(Z_OBJ_P(object))->checker;
    if (checker == NULL) zend_throw_error(NULL, "the constructor of Addrspec\\Checker was not called");
    return checker;
}

/* Decodes JSON into arrays. A member of it is NULL if there is none. */
static void decode(zval *value, const char *json, size_t length) {
    if (php_json_decode_ex(value, json, length, PHP_JSON_OBJECT_AS_ARRAY, PHP_JSON_PARSER_DEFAULT_DEPTH) != SUCCESS) ZVAL_NULL(value);
}

static void copy_member(zval *to, zval *array, const char *name) {
    zval *found = Z_TYPE_P(array) == IS_ARRAY ? zend_hash_str_find(Z_ARRVAL_P(array), name, strlen(name)) : NULL;
    if (found != NULL) ZVAL_COPY(to, found);
    else ZVAL_NULL(to);
}

static void put_text(zval *to, const char *text) {
    if (text != NULL) ZVAL_STRING(to, text);
    else ZVAL_NULL(to);
}

static void put_refusal(zval *to, const addrspec_refusal *refusal) {
    object_init_ex(to, refusal_class);
    zval *p = Z_OBJ_P(to)->properties_table;
    put_text(p++, refusal->code);
    ZVAL_LONG(p++, refusal->offset);
    put_text(p++, refusal->section);
    put_text(p, refusal->sentence);
}

static void put_details(zval *to, const addrspec_result *r) {
    zval all;
    decode(&all, r->json, r->json_length);
    copy_member(to, &all, "details");
    zval_ptr_dtor(&all);
}

/* Fills the properties in the order in which register_classes declares them. */
static void put_result(zval *to, zend_string *email, const addrspec_result *r, unsigned flags) {
    object_init_ex(to, result_class);
    zval *p = Z_OBJ_P(to)->properties_table;
    ZVAL_STRINGL(p++, r->json, r->json_length);
    ZVAL_STR_COPY(p++, email);
    ZVAL_BOOL(p++, r->valid);
    put_text(p++, r->normalized);
    put_text(p++, r->local_part);
    ZVAL_BOOL(p++, r->alias);
    ZVAL_BOOL(p++, r->ascii);
    put_text(p++, r->role);
    ZVAL_BOOL(p++, r->gibberish);
    ZVAL_DOUBLE(p++, r->gibberish_score);
    put_text(p++, r->domain);
    if (*r->host != '\0') ZVAL_NULL(p++);
    else ZVAL_FALSE(p++);
    ZVAL_BOOL(p++, r->disposable);
    ZVAL_BOOL(p++, r->is_public);
    ZVAL_BOOL(p++, r->relay);
    ZVAL_BOOL(p++, r->typo);
    put_text(p++, r->typo_suggestion);
    if (r->valid) ZVAL_NULL(p++);
    else put_refusal(p++, &r->refusal);
    if (flags & ADDRSPEC_DETAILS) put_details(p, r);
    else ZVAL_NULL(p);
}

static unsigned flags_of(bool details, bool full_suggestion) {
    return (details ? ADDRSPEC_DETAILS : 0) | (full_suggestion ? ADDRSPEC_FULL_SUGGESTION : 0);
}

ZEND_FUNCTION(addrspec_check) {
    zend_string *email;
    bool details = false, full_suggestion = false;
    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_STR(email)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(details)
        Z_PARAM_BOOL(full_suggestion)
    ZEND_PARSE_PARAMETERS_END();
    addrspec_checker *checker = find_checker(getThis());
    if (checker == NULL) RETURN_THROWS();
    const addrspec_result *result = addrspec_check(checker, ZSTR_VAL(email), ZSTR_LEN(email), flags_of(details, full_suggestion));
    if (result == NULL) return throw_error(checker, "");
    put_result(return_value, email, result, flags_of(details, full_suggestion));
}

/* Adds the result of an element, or returns false with an exception. */
static bool add_result(addrspec_checker *checker, zval *results, zval *email, zend_string *key, zend_ulong index, unsigned flags) {
    zval result;
    ZVAL_DEREF(email);
    if (Z_TYPE_P(email) != IS_STRING) return zend_argument_type_error(1, "must be an array of strings, %s given", zend_zval_type_name(email)), false;
    const addrspec_result *found = addrspec_check(checker, Z_STRVAL_P(email), Z_STRLEN_P(email), flags);
    if (found == NULL) return throw_error(checker, ""), false;
    put_result(&result, Z_STR_P(email), found, flags);
    if (key != NULL) zend_hash_add_new(Z_ARRVAL_P(results), key, &result);
    else zend_hash_index_add_new(Z_ARRVAL_P(results), index, &result);
    return true;
}

ZEND_FUNCTION(addrspec_check_many) {
    HashTable *emails;
    zend_string *key;
    zend_ulong index;
    zval *email;
    bool details = false, full_suggestion = false;
    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_ARRAY_HT(emails)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(details)
        Z_PARAM_BOOL(full_suggestion)
    ZEND_PARSE_PARAMETERS_END();
    addrspec_checker *checker = find_checker(getThis());
    if (checker == NULL) RETURN_THROWS();
    array_init_size(return_value, zend_hash_num_elements(emails));
    ZEND_HASH_FOREACH_KEY_VAL(emails, index, key, email) {
        if (!add_result(checker, return_value, email, key, index, flags_of(details, full_suggestion))) RETURN_THROWS();
    } ZEND_HASH_FOREACH_END();
}

static void put_verdict(zval *to, const char *json) {
    zval all;
    object_init_ex(to, verdict_class);
    zval *p = Z_OBJ_P(to)->properties_table;
    decode(&all, json, strlen(json));
    put_text(p++, json);
    copy_member(p++, &all, "action");
    copy_member(p++, &all, "reason");
    copy_member(p, &all, "rule");
    zval_ptr_dtor(&all);
}

static addrspec_known known(bool value, bool unknown) { return unknown ? ADDRSPEC_UNKNOWN : value ? ADDRSPEC_YES : ADDRSPEC_NO; }

ZEND_FUNCTION(addrspec_decide) {
    zend_string *policy, *email;
    bool mx = false, no_mx = true, record = false, no_record = true, disposable = false;
    HashTable *exchanges = (HashTable *)&zend_empty_array;
    zval names;
    ZEND_PARSE_PARAMETERS_START(2, 6)
        Z_PARAM_STR(policy)
        Z_PARAM_STR(email)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL_OR_NULL(mx, no_mx)
        Z_PARAM_BOOL_OR_NULL(record, no_record)
        Z_PARAM_BOOL(disposable)
        Z_PARAM_ARRAY_HT(exchanges)
    ZEND_PARSE_PARAMETERS_END();
    addrspec_checker *checker = find_checker(getThis());
    if (checker == NULL) RETURN_THROWS();
    php_implode(ZSTR_CHAR(' '), exchanges, &names);
    addrspec_found found = {known(mx, no_mx), known(record, no_record), disposable, Z_STRVAL(names)};
    const addrspec_verdict *verdict = NULL;
    if (EG(exception) == NULL && strlen(Z_STRVAL(names)) < Z_STRLEN(names)) zend_argument_value_error(6, "must not contain any null bytes");
    if (EG(exception) == NULL && addrspec_check(checker, ZSTR_VAL(email), ZSTR_LEN(email), 0) != NULL)
        verdict = addrspec_decide(checker, ZSTR_VAL(policy), ZSTR_LEN(policy), &found);
    zval_ptr_dtor(&names);
    if (verdict != NULL) put_verdict(return_value, verdict->json);
    else if (EG(exception) == NULL) throw_error(checker, "");
}

ZEND_FUNCTION(addrspec_versions) {
    ZEND_PARSE_PARAMETERS_NONE();
    addrspec_checker *checker = find_checker(getThis());
    if (checker == NULL) RETURN_THROWS();
    const char *json = addrspec_versions(checker);
    if (json == NULL) return throw_error(checker, "");
    decode(return_value, json, strlen(json));
}

ZEND_FUNCTION(addrspec_load_lists) {
    zend_string *blob;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(blob)
    ZEND_PARSE_PARAMETERS_END();
    addrspec_checker *checker = find_checker(getThis());
    if (checker == NULL) RETURN_THROWS();
    if (addrspec_load_lists(checker, ZSTR_VAL(blob), ZSTR_LEN(blob)) == ADDRSPEC_OK) return;
    if (addrspec_error_code(checker) == ADDRSPEC_ERROR_ARGUMENT) zend_argument_value_error(1, "cannot be empty");
    else throw_error(checker, "");
}

ZEND_FUNCTION(addrspec_construct) {
    zend_string *lists = NULL;
    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(lists)
    ZEND_PARSE_PARAMETERS_END();
    struct holder *holder = held(Z_OBJ_P(getThis()));
    if (holder->checker == NULL) holder->checker = addrspec_new();
    if (holder->checker == NULL) return throw_error(NULL, "");
    if (lists != NULL && addrspec_load_lists(holder->checker, ZSTR_VAL(lists), ZSTR_LEN(lists)) != ADDRSPEC_OK) throw_error(holder->checker, "");
}

/* A private constructor: only the extension makes results. */
ZEND_FUNCTION(addrspec_private) { ZEND_PARSE_PARAMETERS_NONE(); }

/* Returns what the property json has. An object that was not unserialized whole has none. */
ZEND_FUNCTION(addrspec_json_serialize) {
    ZEND_PARSE_PARAMETERS_NONE();
    zval *json = OBJ_PROP_NUM(Z_OBJ_P(getThis()), 0);
    if (Z_TYPE_P(json) == IS_STRING) decode(return_value, Z_STRVAL_P(json), Z_STRLEN_P(json));
}

static const zend_function_entry functions[] = {
    ZEND_NS_FALIAS("Addrspec", check, addrspec_check, arginfo_check)
    ZEND_NS_FALIAS("Addrspec", check_many, addrspec_check_many, arginfo_check_many)
    ZEND_NS_FALIAS("Addrspec", decide, addrspec_decide, arginfo_decide)
    ZEND_NS_FALIAS("Addrspec", versions, addrspec_versions, arginfo_versions)
    ZEND_FE_END
};

static const zend_function_entry checker_methods[] = {
    ZEND_ME_MAPPING(__construct, addrspec_construct, arginfo_construct, ZEND_ACC_PUBLIC)
    ZEND_ME_MAPPING(check, addrspec_check, arginfo_check, ZEND_ACC_PUBLIC)
    ZEND_ME_MAPPING(checkMany, addrspec_check_many, arginfo_check_many, ZEND_ACC_PUBLIC)
    ZEND_ME_MAPPING(decide, addrspec_decide, arginfo_decide, ZEND_ACC_PUBLIC)
    ZEND_ME_MAPPING(loadLists, addrspec_load_lists, arginfo_load_lists, ZEND_ACC_PUBLIC)
    ZEND_ME_MAPPING(versions, addrspec_versions, arginfo_versions, ZEND_ACC_PUBLIC)
    ZEND_FE_END
};

static const zend_function_entry result_methods[] = {
    ZEND_ME_MAPPING(__construct, addrspec_private, arginfo_none, ZEND_ACC_PRIVATE)
    ZEND_ME_MAPPING(jsonSerialize, addrspec_json_serialize, arginfo_json_serialize, ZEND_ACC_PUBLIC)
    ZEND_FE_END
};

static const zend_function_entry refusal_methods[] = {
    ZEND_ME_MAPPING(__construct, addrspec_private, arginfo_none, ZEND_ACC_PRIVATE)
    ZEND_FE_END
};

static zend_class_entry *register_class(const char *name, const zend_function_entry *methods, zend_class_entry *parent, uint32_t flags) {
    zend_class_entry class;
    INIT_CLASS_ENTRY_EX(class, name, strlen(name), methods);
    zend_class_entry *registered = zend_register_internal_class_ex(&class, parent);
    registered->ce_flags |= flags;
    return registered;
}

static void declare(zend_class_entry *class, const char *name, zend_type type) {
    zval none;
    ZVAL_UNDEF(&none);
    zend_string *text = zend_string_init_interned(name, strlen(name), true);
    zend_declare_typed_property(class, text, &none, ZEND_ACC_PUBLIC | ZEND_ACC_READONLY, NULL, type);
    zend_string_release(text);
}

/* A property of a class: its name, and which types it may have. */
struct property {
    const char *name;
    uint32_t types;
};

static void declare_all(zend_class_entry *class, const struct property *p) {
    for (; p->name != NULL; p++) declare(class, p->name, (zend_type)ZEND_TYPE_INIT_MASK(p->types));
}

enum { TEXT = MAY_BE_STRING, TEXT_OR_NULL = MAY_BE_STRING | MAY_BE_NULL };

static void register_classes(void) {
    static const struct property facts[] = {
        {"json", TEXT}, {"email", TEXT}, {"valid", MAY_BE_BOOL}, {"normalized", TEXT_OR_NULL}, {"localPart", TEXT_OR_NULL},
        {"alias", MAY_BE_BOOL}, {"ascii", MAY_BE_BOOL}, {"role", TEXT_OR_NULL}, {"gibberish", MAY_BE_BOOL},
        {"gibberishScore", MAY_BE_DOUBLE}, {"domain", TEXT_OR_NULL}, {"mx", MAY_BE_BOOL | MAY_BE_NULL}, {"disposable", MAY_BE_BOOL},
        {"public", MAY_BE_BOOL}, {"relay", MAY_BE_BOOL}, {"typo", MAY_BE_BOOL}, {"typoSuggestion", TEXT_OR_NULL}, {NULL, 0}};
    static const struct property details[] = {{"details", MAY_BE_ARRAY | MAY_BE_NULL}, {NULL, 0}};
    static const struct property refusal[] = {{"code", TEXT}, {"offset", MAY_BE_LONG}, {"section", TEXT}, {"sentence", TEXT}, {NULL, 0}};
    static const struct property verdict[] = {{"json", TEXT}, {"action", TEXT}, {"reason", TEXT_OR_NULL}, {"rule", TEXT_OR_NULL}, {NULL, 0}};
    static const struct property place[] = {{"place", TEXT}, {NULL, 0}};
    checker_class = register_class("Addrspec\\Checker", checker_methods, NULL, ZEND_ACC_FINAL | ZEND_ACC_NOT_SERIALIZABLE);
    refusal_class = register_class("Addrspec\\Refusal", refusal_methods, NULL, ZEND_ACC_FINAL);
    result_class = register_class("Addrspec\\Result", result_methods, NULL, ZEND_ACC_FINAL);
    verdict_class = register_class("Addrspec\\Verdict", result_methods, NULL, ZEND_ACC_FINAL);
    exception_class = register_class("Addrspec\\Exception", NULL, spl_ce_RuntimeException, 0);
    lists_class = register_class("Addrspec\\ListsException", NULL, exception_class, ZEND_ACC_FINAL);
    policy_class = register_class("Addrspec\\PolicyException", NULL, exception_class, ZEND_ACC_FINAL);
    zend_class_implements(result_class, 1, php_json_serializable_ce);
    zend_class_implements(verdict_class, 1, php_json_serializable_ce);
    declare_all(result_class, facts);
    declare(result_class, "refusal", (zend_type)ZEND_TYPE_INIT_CLASS(zend_string_init_interned("Addrspec\\Refusal", sizeof "Addrspec\\Refusal" - 1, true), true, 0));
    declare_all(result_class, details);
    declare_all(refusal_class, refusal);
    declare_all(verdict_class, verdict);
    declare_all(policy_class, place);
}

PHP_INI_BEGIN()
    STD_PHP_INI_ENTRY("addrspec.lists", "", PHP_INI_SYSTEM, OnUpdateString, lists, zend_addrspec_globals, addrspec_globals)
PHP_INI_END()

static PHP_GINIT_FUNCTION(addrspec) {
#if defined(ZTS) && defined(COMPILE_DL_ADDRSPEC)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    memset(addrspec_globals, 0, sizeof *addrspec_globals);
}

static PHP_GSHUTDOWN_FUNCTION(addrspec) { addrspec_free(addrspec_globals->checker); }

static PHP_MINIT_FUNCTION(addrspec) {
    REGISTER_INI_ENTRIES();
    register_classes();
    memcpy(&checker_handlers, zend_get_std_object_handlers(), sizeof checker_handlers);
    checker_handlers.offset = offsetof(struct holder, object);
    checker_handlers.free_obj = free_holder;
    checker_handlers.clone_obj = NULL;
    checker_class->create_object = new_holder;
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(addrspec) {
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

static PHP_MINFO_FUNCTION(addrspec) {
    addrspec_checker *checker = own_checker();
    const char *versions = checker == NULL ? NULL : addrspec_versions(checker);
    php_info_print_table_start();
    php_info_print_table_row(2, "addrspec", ADDRSPEC_VERSION);
    php_info_print_table_row(2, "versions", versions == NULL ? "the checker cannot be made; call Addrspec\\versions() for the error" : versions);
    php_info_print_table_end();
    if (checker == NULL) zend_clear_exception();
    DISPLAY_INI_ENTRIES();
}

static const zend_module_dep dependencies[] = {ZEND_MOD_REQUIRED("json") ZEND_MOD_REQUIRED("spl") ZEND_MOD_END};

zend_module_entry addrspec_module_entry = {
    STANDARD_MODULE_HEADER_EX, NULL, dependencies, "addrspec", functions, PHP_MINIT(addrspec), PHP_MSHUTDOWN(addrspec), NULL, NULL,
    PHP_MINFO(addrspec), ADDRSPEC_VERSION, PHP_MODULE_GLOBALS(addrspec), PHP_GINIT(addrspec), PHP_GSHUTDOWN(addrspec), NULL,
    STANDARD_MODULE_PROPERTIES_EX};

#ifdef COMPILE_DL_ADDRSPEC
ZEND_GET_MODULE(addrspec)
#endif
