/*
 * The extension addrspec._native: the C library behind the classes of the package, by the limited
 * API of Python 3.10 and later. Instance has the methods of that of _wasmtime.py.
 *
 * check keeps the interpreter's lock, since a check takes hardly longer than giving it up. All other
 * methods give it up, and run one at a time for each instance, which the package sees to.
 */
#define Py_LIMITED_API 0x030a0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <addrspec.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"

/* What is checked without the interpreter's lock at a time: so many addresses of so many bytes, or
   one. Between them an interrupt ends the call. */
enum { BATCH = 256, BATCH_BYTES = 64 << 10, BATCH_ROWS = 4096 };

typedef struct instance {
    PyObject_HEAD
    addrspec_checker *checker;
} instance;

/* What is wanted of addresses: facts or, with a policy, verdicts. */
struct job {
    addrspec_checker *checker;
    unsigned flags;
    const char *policy; /* or NULL */
    size_t policy_length;
    addrspec_found found;
};

/* Raises the error of the last call with a checker. */
static PyObject *raise_error(addrspec_checker *c) {
    static const char of_lists[] = "the lists were refused: ", too_long[] = "the policy has more";
    addrspec_code code = addrspec_error_code(c);
    const char *message = addrspec_error_message(c);
    if (code == ADDRSPEC_ERROR_MEMORY) return PyErr_NoMemory();
    if (code != ADDRSPEC_ERROR_LISTS && code != ADDRSPEC_ERROR_POLICY) {
        PyErr_SetString(code == ADDRSPEC_ERROR_INTERNAL ? PyExc_RuntimeError : PyExc_ValueError, message);
        return NULL;
    }
    PyObject *module = PyImport_ImportModule("addrspec._abi"), *error = NULL;
    if (module != NULL && code == ADDRSPEC_ERROR_LISTS) {
        if (strncmp(message, of_lists, sizeof of_lists - 1) == 0) message += sizeof of_lists - 1;
        error = PyObject_CallMethod(module, "ListsRefused", "s", message);
    } else if (module != NULL) {
        char text[600];
        bool long_one = strncmp(message, too_long, sizeof too_long - 1) == 0; /* the module says it with a place */
        if (long_one) message += strlen("the policy");
        PyOS_snprintf(text, sizeof text, "%s%s", long_one ? "the document: it" : "", message);
        error = PyObject_CallMethod(module, "PolicyRefused", "sn", text, (Py_ssize_t)addrspec_error_offset(c));
    }
    if (error != NULL) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(module);
    return NULL;
}

static bool load_lists(addrspec_checker *checker, PyObject *blob) {
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(blob, &data, &size) < 0) return false;
    addrspec_code code;
    Py_BEGIN_ALLOW_THREADS
    code = addrspec_load_lists(checker, size == 0 ? "" : data, size == 0 ? 1 : (size_t)size);
    Py_END_ALLOW_THREADS
    return code == ADDRSPEC_OK || raise_error(checker) != NULL;
}

/* Instance(lists) */
static PyObject *instance_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"lists", NULL};
    PyObject *lists;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O", names, &lists)) return NULL;
    instance *self = (instance *)PyType_GenericAlloc(type, 0);
    if (self == NULL) return NULL;
    self->checker = addrspec_new();
    if (self->checker == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    if (lists == Py_None || load_lists(self->checker, lists)) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void instance_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    addrspec_free(((instance *)self)->checker);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* check(address, flags) */
static PyObject *instance_check(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    char *address;
    Py_ssize_t length;
    if (count != 2) return PyErr_SetString(PyExc_TypeError, "check takes an address and flags"), NULL;
    if (PyBytes_AsStringAndSize(args[0], &address, &length) < 0) return NULL;
    long flags = PyLong_AsLong(args[1]);
    if (flags == -1 && PyErr_Occurred()) return NULL;
    addrspec_checker *checker = ((instance *)self)->checker;
    size_t size;
    const char *json = addrspec_check_json(checker, address, (size_t)length, (unsigned)flags, &size);
    return json == NULL ? raise_error(checker) : PyBytes_FromStringAndSize(json, (Py_ssize_t)size);
}

/* Returns the JSON of the facts about an address, or of the verdict on it; NULL is an error of the checker. */
static const char *judge(const struct job *job, const void *address, size_t length, size_t *size) {
    if (job->policy == NULL) return addrspec_check_json(job->checker, address, length, job->flags, size);
    if (addrspec_check(job->checker, address, length, 0) == NULL) return NULL;
    const addrspec_verdict *verdict = addrspec_decide(job->checker, job->policy, job->policy_length, &job->found);
    if (verdict == NULL) return NULL;
    *size = strlen(verdict->json);
    return verdict->json;
}

/* The results for a batch, one after the other. */
struct results {
    char *data;
    size_t length, room, ends[BATCH];
};

/* Appends the results for addresses. false: there is no memory, or the checker has an error. */
static bool judge_batch(const struct job *job, const addrspec_address *addresses, int count, struct results *r) {
    r->length = 0;
    for (int n = 0; n < count; n++) {
        size_t size;
        const char *json = judge(job, addresses[n].data, addresses[n].length, &size);
        if (json == NULL || !make_room(&r->data, &r->room, r->length, size)) return false;
        memcpy(r->data + r->length, json, size);
        r->ends[n] = r->length += size;
    }
    return true;
}

/* Appends a batch of results to a list, as bytes. */
static bool append_batch(PyObject *list, const struct results *r, int count) {
    size_t start = 0;
    for (int n = 0; n < count; start = r->ends[n++]) {
        PyObject *json = PyBytes_FromStringAndSize(r->data + start, (Py_ssize_t)(r->ends[n] - start));
        bool done = json != NULL && PyList_Append(list, json) == 0;
        Py_XDECREF(json);
        if (!done) return false;
    }
    return true;
}

/* Returns how many addresses of a list from next on are a batch, or -1 with an exception. */
static int take_batch(PyObject *list, Py_ssize_t next, addrspec_address *addresses) {
    int count = 0;
    Py_ssize_t bytes = 0, all = PyList_Size(list);
    for (; count < BATCH && next + count < all && bytes < BATCH_BYTES; count++) {
        char *data;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(PyList_GetItem(list, next + count), &data, &length) < 0) return -1;
        addresses[count] = (addrspec_address){data, (size_t)length};
        bytes += length;
    }
    return count;
}

/* Raises what ended a job: the checker has no error if there was no memory for its results. */
static void raise_end(const struct job *job) {
    if (addrspec_error_code(job->checker) == ADDRSPEC_OK) PyErr_NoMemory();
    else raise_error(job->checker);
}

/* Returns the results for a list of addresses, which no other thread changes, as a list. */
static PyObject *judge_list(const struct job *job, PyObject *list) {
    addrspec_address addresses[BATCH];
    struct results results = {0};
    PyObject *all = PyList_New(0);
    for (Py_ssize_t next = 0; all != NULL && next < PyList_Size(list);) {
        int count = take_batch(list, next, addresses);
        bool done = false;
        if (count > 0) {
            Py_BEGIN_ALLOW_THREADS
            done = judge_batch(job, addresses, count, &results);
            Py_END_ALLOW_THREADS
            if (!done) raise_end(job);
        }
        if (!done || !append_batch(all, &results, count) || PyErr_CheckSignals() < 0) Py_CLEAR(all);
        next += count;
    }
    free(results.data);
    return all;
}

/* Whether the policy is one, which is found without an address too. */
static bool verify(const struct job *job) {
    const char *verdict;
    size_t size;
    Py_BEGIN_ALLOW_THREADS
    verdict = judge(job, NULL, 0, &size);
    Py_END_ALLOW_THREADS
    return verdict != NULL || raise_error(job->checker) != NULL;
}

/* check_many(addresses, flags) */
static PyObject *instance_check_many(PyObject *self, PyObject *args) {
    struct job job = {.checker = ((instance *)self)->checker};
    PyObject *list;
    return PyArg_ParseTuple(args, "OI", &list, &job.flags) ? judge_list(&job, list) : NULL;
}

/* verdicts(policy, addresses, found, disposable, exchanges) */
static PyObject *instance_verdicts(PyObject *self, PyObject *args) {
    struct job job = {.checker = ((instance *)self)->checker};
    PyObject *list;
    Py_ssize_t length;
    int found, disposable;
    const char *exchanges;
    if (!PyArg_ParseTuple(args, "y#Oipy", &job.policy, &length, &list, &found, &disposable, &exchanges)) return NULL;
    job.policy_length = (size_t)length;
    job.found = (addrspec_found){found & 3, found >> 2 & 3, disposable, exchanges};
    return verify(&job) ? judge_list(&job, list) : NULL;
}

/* info() */
static PyObject *instance_info(PyObject *self, PyObject *unused) {
    (void)unused;
    addrspec_checker *checker = ((instance *)self)->checker;
    const char *json = addrspec_versions(checker);
    return json == NULL ? raise_error(checker) : PyBytes_FromString(json);
}

/* Sets rows of results, in an array that is exported, to those for rows of an array of large binary. */
static bool judge_rows(const struct job *job, const struct ArrowArray *rows, int64_t first, int64_t end,
                       struct ArrowArray *out) {
    const int64_t *offsets = (const int64_t *)rows->buffers[1] + rows->offset;
    const uint8_t *valid = rows->buffers[0];
    const char *addresses = rows->buffers[2];
    bool facts = job->policy == NULL;
    for (int64_t row = first; row < end; row++) {
        int64_t bit = rows->offset + row;
        size_t length = (size_t)(offsets[row + 1] - offsets[row]), size = 0;
        const char *json = "";
        if (valid == NULL || (valid[bit / 8] >> bit % 8 & 1) != 0) {
            if (length > ADDRSPEC_MAX_ADDRESS) size = strlen(json = facts ? FACTS_OF_TOO_LONG : VERDICT_OF_TOO_LONG);
            else json = judge(job, length == 0 ? "" : addresses + offsets[row], length, &size);
        }
        if (json == NULL || !append_row(out, facts ? FACTS : VERDICT, row, json, size)) return false;
    }
    return true;
}

static void free_array(struct ArrowArray *array) {
    if (array->release != NULL) array->release(array);
    free(array);
}

static void capsule_free(PyObject *capsule) { free_array(PyCapsule_GetPointer(capsule, "arrow_array")); }

/* arrow(array, flags, policy): returns the results for an array of large binary, a capsule, as an
   array of structs, a capsule too. policy may be None. */
static PyObject *instance_arrow(PyObject *self, PyObject *args) {
    struct job job = {.checker = ((instance *)self)->checker};
    PyObject *capsule;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(args, "OIz#", &capsule, &job.flags, &job.policy, &length)) return NULL;
    job.policy_length = (size_t)length;
    const struct ArrowArray *rows = PyCapsule_GetPointer(capsule, "arrow_array");
    if (rows == NULL || (job.policy != NULL && !verify(&job))) return NULL;
    struct ArrowArray *out = job.policy != NULL ? new_results(VERDICT, VERDICT_COUNT, rows->length)
                                                : new_results(FACTS, FACTS_COUNT + !!(job.flags & ADDRSPEC_DETAILS), rows->length);
    if (out == NULL) return PyErr_NoMemory();
    PyObject *results = PyCapsule_New(out, "arrow_array", capsule_free);
    if (results == NULL) free_array(out);
    for (int64_t first = 0, end; results != NULL && first < rows->length; first = end) {
        bool done;
        end = rows->length - first > BATCH_ROWS ? first + BATCH_ROWS : rows->length;
        Py_BEGIN_ALLOW_THREADS
        done = judge_rows(&job, rows, first, end, out);
        Py_END_ALLOW_THREADS
        if (!done) raise_end(&job);
        if (!done || PyErr_CheckSignals() < 0) Py_CLEAR(results);
    }
    return results;
}

static PyObject *object_of(const struct value *v, const struct member *member) {
    char small[512];
    if (v->first == 'n' || v->first == 't' || v->first == 'f') {
        PyObject *object = v->first == 'n' ? Py_None : v->first == 't' ? Py_True : Py_False;
        Py_INCREF(object);
        return object;
    }
    /* As json.loads has it, 0 and 1 are integers. */
    if (member->kind == NUMBER && v->length == 1) return PyLong_FromLong((long)number(v));
    if (member->kind == NUMBER) return PyFloat_FromDouble(number(v));
    if (!v->escaped) return PyUnicode_DecodeUTF8(v->at, (Py_ssize_t)v->length, "strict");
    char *text = v->length <= sizeof small ? small : malloc(v->length);
    if (text == NULL) return PyErr_NoMemory();
    PyObject *object = PyUnicode_DecodeUTF8(text, (Py_ssize_t)unescape(v, text), "strict");
    if (text != small) free(text);
    return object;
}

/* The names of facts, and of the attribute that has their JSON. */
struct names {
    PyObject *facts[FACTS_COUNT], *json;
};

/* Returns the value of a member of JSON; NULL without an exception if the JSON is none of the module's,
   or the name none of these. */
static PyObject *find_value(const struct names *names, PyObject *json, PyObject *name) {
    char *at;
    Py_ssize_t size;
    struct value v;
    if (PyBytes_AsStringAndSize(json, &at, &size) < 0) return NULL;
    const char *next = at, *end = at + size;
    for (int n = 0; n < FACTS_COUNT && read_member(&next, end, &FACTS[n], &v); n++) {
        if (names->facts[n] == name) return object_of(&v, &FACTS[n]);
    }
    return NULL;
}

/* value(facts, name): a fact, of facts.json, or else of facts._values() */
static PyObject *value(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    const struct names *names = PyModule_GetState(module);
    if (count != 2) return PyErr_SetString(PyExc_TypeError, "value takes facts and a name"), NULL;
    PyObject *json = PyObject_GetAttr(args[0], names->json);
    if (json == NULL) return NULL;
    PyObject *found = find_value(names, json, args[1]);
    Py_DECREF(json);
    if (found != NULL || PyErr_Occurred()) return found;
    PyObject *values = PyObject_CallMethod(args[0], "_values", NULL);
    if (values != NULL) found = PyObject_GetItem(values, args[1]);
    Py_XDECREF(values);
    return found;
}

static PyMethodDef methods[] = {
    {"check", (PyCFunction)(void (*)(void))instance_check, METH_FASTCALL, NULL},
    {"check_many", instance_check_many, METH_VARARGS, NULL},
    {"verdicts", instance_verdicts, METH_VARARGS, NULL},
    {"arrow", instance_arrow, METH_VARARGS, NULL},
    {"info", instance_info, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)instance_new}, {Py_tp_dealloc, (void *)instance_dealloc}, {Py_tp_methods, methods}, {0, NULL}};

static PyType_Spec spec = {"addrspec._native.Instance", sizeof(instance), 0, Py_TPFLAGS_DEFAULT, slots};

static PyObject *interned(const char *text, size_t length) {
    PyObject *name = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
    if (name != NULL) PyUnicode_InternInPlace(&name);
    return name;
}

static int fill(PyObject *module) {
    struct names *names = PyModule_GetState(module);
    names->json = interned("json", 4);
    bool done = names->json != NULL;
    for (int n = 0; done && n < FACTS_COUNT; n++) {
        names->facts[n] = interned(FACTS[n].name + 1, FACTS[n].length - 3);
        done = names->facts[n] != NULL;
    }
    PyObject *type = done ? PyType_FromSpec(&spec) : NULL;
    if (type != NULL && PyModule_AddObject(module, "Instance", type) == 0) return 0;
    Py_XDECREF(type);
    return -1;
}

static void clear(void *module) {
    struct names *names = PyModule_GetState(module);
    if (names == NULL) return;
    for (int n = 0; n < FACTS_COUNT; n++) Py_CLEAR(names->facts[n]);
    Py_CLEAR(names->json);
}

static PyMethodDef functions[] = {
    {"value", (PyCFunction)(void (*)(void))value, METH_FASTCALL, NULL}, {NULL, NULL, 0, NULL}};

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void *)fill}, {0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_native", .m_size = sizeof(struct names), .m_methods = functions, .m_slots = module_slots, .m_free = clear};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
