/* The wire layer in C: the same decoder as _wire.py, which is the reference.

   The rules, with the clauses of the standard, are in docs/wire.md and _wire.py; comments here say
   only how C keeps them. Bytes are read once, line by line. A field of an event is a slice of the
   chunk as long as that is at hand, and a copy of our own from then on, so an event that comes in
   one chunk is never copied before it is decoded.

   Built against the limited API of CPython 3.11, so one binary serves that version and all later
   ones. Nothing is static but constants: types and strings live in the state of the module. */

#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stddef.h>
#include <string.h>

#define MAX_RETRY_DIGITS 4300
#define DIGITS_AT_ONCE 18 /* as many as fit a long long */
#define ROOM_KEPT 256     /* bytes of room that a field keeps from one event to the next */

static const char BOM[] = "\xef\xbb\xbf";

typedef struct {
    PyObject *event_type;   /* ServerSentEvent */
    PyObject *comment_type; /* Comment */
    PyObject *error_type;   /* EventTooLarge */
    PyObject *message;      /* "message" */
    newfunc new_tuple;      /* tuple.__new__, which runs no Python code */
} State;

typedef struct {
    const char *start; /* NULL if the event has no such field */
    Py_ssize_t size;
    char *own; /* our copy, with room for so many bytes; start is own or lies in the chunk */
    Py_ssize_t room;
} Field;

typedef enum {
    UNMADE,   /* before __init__() */
    START,    /* at the start of the stream, within what may be a BOM */
    INSIDE,
    SKIPPING, /* in an event that was too large */
    END,      /* after receive_eof() */
    BROKEN    /* memory ran out in the middle of a call */
} Place;

typedef struct {
    PyObject_HEAD
    State *state;
    PyObject *limit;         /* max_event_bytes, an int of any size */
    PyObject *last_event_id; /* a str */
    PyObject *retry_ms;      /* an int, or NULL */
    Py_ssize_t max_event_bytes;
    Py_ssize_t held; /* what the finished lines of the event count in the limit */
    Field line;      /* the unfinished line */
    Field data, type, id;
    Place place;
    int bom_size;    /* how much of a BOM has come */
    char after_cr;   /* whether an LF that comes next belongs to a CR, which has ended its line */
    char line_begun; /* while skipping: whether an LF would end a line, and not the event */
    char comments, flush_unfinished, plain_frames, busy;
} Decoder;

/* Fields */

static void
field_clear(Field *field)
{
    field->start = NULL;
    field->size = 0;
    if (field->room > ROOM_KEPT) {
        PyMem_Free(field->own);
        field->own = NULL;
        field->room = 0;
    }
}

/* Copies bytes to the end of the field. They must not be its own. */
static int
field_append(Field *field, const char *bytes, Py_ssize_t size)
{
    if (size > PY_SSIZE_T_MAX / 2 - field->size) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t wanted = field->size + size;
    if (wanted > field->room || field->own == NULL) {
        Py_ssize_t room = wanted + wanted / 8 + 32;
        char *own = PyMem_Realloc(field->own, room);
        if (own == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        if (field->start == field->own) {
            field->start = own;
        }
        field->own = own;
        field->room = room;
    }
    if (field->start != field->own) {
        if (field->size) {
            memcpy(field->own, field->start, field->size);
        }
        field->start = field->own;
    }
    if (size) {
        memcpy(field->own + field->size, bytes, size);
    }
    field->size = wanted;
    return 0;
}

/* Makes the bytes the value of the field: as a slice of the chunk, or else with the buffer of the
   line in which they lie, so that a long line is not copied. Then the line must be cleared next. */
static void
field_set(Field *field, const char *bytes, Py_ssize_t size, int in_chunk, Field *line)
{
    field->start = bytes;
    field->size = size;
    if (!in_chunk) {
        Field before = *field;
        field->start = memmove(line->own, bytes, size);
        field->own = line->own;
        field->room = line->room;
        line->own = before.own;
        line->room = before.room;
    }
}

/* Copies a slice of the chunk, which is about to end. */
static int
field_keep(Field *field)
{
    if (field->start == NULL || field->start == field->own) {
        return 0;
    }
    return field_append(field, "", 0);
}

static PyObject *
decoded(const char *bytes, Py_ssize_t size)
{
    return PyUnicode_DecodeUTF8(bytes, size, "replace");
}

/* Items */

static int
append_and_release(PyObject *items, PyObject *item)
{
    if (item == NULL) {
        return -1;
    }
    int result = PyList_Append(items, item);
    Py_DECREF(item);
    return result;
}

/* Returns a named tuple with these values, and releases them. */
static PyObject *
named_tuple(State *state, PyObject *type, PyObject *values)
{
    if (values == NULL) {
        return NULL;
    }
    PyObject *arguments = PyTuple_Pack(1, values);
    Py_DECREF(values);
    if (arguments == NULL) {
        return NULL;
    }
    PyObject *tuple = state->new_tuple((PyTypeObject *)type, arguments, NULL);
    Py_DECREF(arguments);
    return tuple;
}

static void
forget_event(Decoder *self)
{
    field_clear(&self->line);
    field_clear(&self->data);
    field_clear(&self->type);
    field_clear(&self->id);
    self->held = 0;
}

static int
receive_comment(Decoder *self, const char *text, Py_ssize_t size, PyObject *items)
{
    if (!self->comments) {
        return 0;
    }
    if (size && text[0] == ' ') {
        text++;
        size--;
    }
    PyObject *string = decoded(text, size);
    if (string == NULL) {
        return -1;
    }
    PyObject *values = PyTuple_Pack(1, string);
    Py_DECREF(string);
    return append_and_release(items, named_tuple(self->state, self->state->comment_type, values));
}

/* Puts out the event that a blank line ends, if it has data. */
static int
dispatch(Decoder *self, PyObject *items)
{
    State *state = self->state;
    if (self->id.start != NULL) {
        PyObject *id = decoded(self->id.start, self->id.size);
        if (id == NULL) {
            return -1;
        }
        PyObject *old = self->last_event_id;
        self->last_event_id = id;
        Py_DECREF(old);
    }
    int result = 0;
    if (self->data.start != NULL) {
        PyObject *type;
        if (self->type.size) {
            type = decoded(self->type.start, self->type.size);
        }
        else {
            type = Py_NewRef(state->message);
        }
        PyObject *data = decoded(self->data.start, self->data.size);
        PyObject *frame = NULL;
        if (type != NULL && data != NULL) {
            frame = PyTuple_Pack(3, type, data, self->last_event_id);
        }
        Py_XDECREF(type);
        Py_XDECREF(data);
        if (!self->plain_frames) {
            frame = named_tuple(state, state->event_type, frame);
        }
        result = append_and_release(items, frame);
    }
    field_clear(&self->data);
    field_clear(&self->type);
    field_clear(&self->id);
    self->held = 0;
    return result;
}

/* Takes the value of a retry field if it is a number that Python can be trusted with. */
static int
receive_retry(Decoder *self, const char *digits, Py_ssize_t size, PyObject *items)
{
    if (size == 0) {
        return 0;
    }
    for (Py_ssize_t n = 0; n < size; n++) {
        if (digits[n] < '0' || digits[n] > '9') {
            return 0;
        }
    }
    while (size && *digits == '0') {
        digits++;
        size--;
    }
    if (size > MAX_RETRY_DIGITS) {
        return 0;
    }
    /* In pieces, since how many digits int() takes at once is a setting of the process. */
    PyObject *number = PyLong_FromLong(0);
    while (number != NULL && size) {
        long long piece = 0, scale = 1;
        for (int n = 0; n < DIGITS_AT_ONCE && size; n++, digits++, size--) {
            piece = piece * 10 + (*digits - '0');
            scale *= 10;
        }
        PyObject *high = NULL, *factor = PyLong_FromLongLong(scale);
        PyObject *low = PyLong_FromLongLong(piece);
        if (factor != NULL && low != NULL) {
            high = PyNumber_Multiply(number, factor);
        }
        Py_DECREF(number);
        number = high == NULL ? NULL : PyNumber_Add(high, low);
        Py_XDECREF(high);
        Py_XDECREF(factor);
        Py_XDECREF(low);
    }
    if (number == NULL) {
        return -1;
    }
    PyObject *old = self->retry_ms;
    self->retry_ms = number;
    Py_XDECREF(old);
    return self->plain_frames ? PyList_Append(items, number) : 0;
}

static int
is_name(const char *line, Py_ssize_t size, const char *name, Py_ssize_t length)
{
    return size == length && memcmp(line, name, length) == 0;
}

/* Takes one line, without its end; in_chunk says whether its bytes stay as long as the chunk. */
static int
receive_line(Decoder *self, const char *line, Py_ssize_t size, int in_chunk, PyObject *items)
{
    if (size == 0) {
        return dispatch(self, items);
    }
    if (line[0] == ':') {
        return receive_comment(self, line + 1, size - 1, items);
    }
    self->held += size + 1;
    const char *value = memchr(line, ':', size);
    Py_ssize_t length = value == NULL ? size : value - line;
    Py_ssize_t value_size = 0;
    if (value == NULL) {
        value = line + size;
    }
    else {
        value++;
        value_size = size - length - 1;
        if (value_size && value[0] == ' ') {
            value++;
            value_size--;
        }
    }
    if (is_name(line, length, "data", 4)) {
        if (self->data.start == NULL) {
            field_set(&self->data, value, value_size, in_chunk, &self->line);
            return 0;
        }
        if (field_append(&self->data, "\n", 1) < 0) {
            return -1;
        }
        return field_append(&self->data, value, value_size);
    }
    if (is_name(line, length, "id", 2)) {
        if (value_size && memchr(value, 0, value_size) != NULL) {
            return 0;
        }
        field_set(&self->id, value, value_size, in_chunk, &self->line);
        return 0;
    }
    if (is_name(line, length, "event", 5)) {
        field_set(&self->type, value, value_size, in_chunk, &self->line);
        return 0;
    }
    if (is_name(line, length, "retry", 5)) {
        return receive_retry(self, value, value_size, items);
    }
    return 0;
}

/* Bytes */

static const char *
find(const char *position, const char *end, char wanted)
{
    const char *found = position == end ? NULL : memchr(position, wanted, end - position);
    return found == NULL ? end : found;
}

/* Takes the next bytes and appends what they complete to the items. */
static int
receive_bytes(Decoder *self, const char *position, const char *end, PyObject *items)
{
    while (self->place == START && position < end) {
        if (*position == BOM[self->bom_size]) {
            position++;
            self->bom_size++;
        }
        else {
            if (self->bom_size && field_append(&self->line, BOM, self->bom_size) < 0) {
                return -1;
            }
            self->bom_size = 0;
            self->place = INSIDE;
        }
        if (self->bom_size == 3) {
            self->bom_size = 0;
            self->place = INSIDE;
        }
    }
    if (self->after_cr && position < end) {
        self->after_cr = 0;
        position += *position == '\n';
    }
    /* The next CR and LF. Each is looked for only when it has been passed, so no byte is looked at
       twice. */
    const char *cr = find(position, end, '\r');
    const char *lf = find(position, end, '\n');
    while (position < end) {
        if (cr < position) {
            cr = find(position, end, '\r');
        }
        if (lf < position) {
            lf = find(position, end, '\n');
        }
        const char *line_end = cr < lf ? cr : lf;
        Py_ssize_t size = line_end - position;
        if (self->place == SKIPPING) {
            if (line_end == end) {
                self->line_begun = 1;
                return 0;
            }
            if (!self->line_begun && size == 0) {
                self->place = INSIDE;
            }
            self->line_begun = 0;
        }
        else {
            Py_ssize_t length = self->line.size + size;
            /* An empty line is never too large, since it ends the event. */
            if (length && length > self->max_event_bytes - self->held) {
                forget_event(self);
                self->place = SKIPPING;
                self->line_begun = 1;
                /* In the error's place: to make it runs Python code, so that is left for later. */
                if (PyList_Append(items, Py_None) < 0) {
                    return -1;
                }
                position = line_end;
                continue;
            }
            if (line_end == end) {
                return field_append(&self->line, position, size);
            }
            int in_chunk = self->line.size == 0;
            const char *line = position;
            if (!in_chunk) {
                if (field_append(&self->line, position, size) < 0) {
                    return -1;
                }
                line = self->line.start;
            }
            if (receive_line(self, line, length, in_chunk, items) < 0) {
                return -1;
            }
            if (!in_chunk) {
                field_clear(&self->line);
            }
        }
        position = line_end + 1;
        if (*line_end == '\r') {
            if (position == end) {
                self->after_cr = 1;
            }
            else {
                position += *position == '\n';
            }
        }
    }
    return 0;
}

/* Methods */

/* Sets a RuntimeError if a call is going on. */
static int
check_idle(Decoder *self)
{
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the decoder is in use already");
        return -1;
    }
    return 0;
}

/* Says that the decoder is in use; then no code may enter it until it is released. */
static int
acquire(Decoder *self)
{
    if (check_idle(self) < 0) {
        return -1;
    }
    if (self->place == UNMADE) {
        PyErr_SetString(PyExc_RuntimeError, "__init__() of the decoder was not called");
        return -1;
    }
    if (self->place == BROKEN) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the decoder has run out of memory before; use a new one");
        return -1;
    }
    self->busy = 1;
    return 0;
}

/* Takes bytes and returns the list of what they complete. */
static PyObject *
receive(Decoder *self, const char *bytes, Py_ssize_t size)
{
    PyObject *items = PyList_New(0);
    if (items == NULL || acquire(self) < 0) {
        Py_XDECREF(items);
        return NULL;
    }
    if (receive_bytes(self, bytes, bytes + size, items) < 0 || field_keep(&self->data) < 0 ||
        field_keep(&self->type) < 0 || field_keep(&self->id) < 0) {
        forget_event(self);
        self->place = BROKEN;
        self->busy = 0;
        Py_DECREF(items);
        return NULL;
    }
    self->busy = 0;
    /* Python code may run from here on. */
    Py_ssize_t count = PyList_Size(items);
    for (Py_ssize_t n = 0; n < count; n++) {
        if (PyList_GetItem(items, n) == Py_None) {
            PyObject *error = PyObject_CallFunctionObjArgs(self->state->error_type, self->limit,
                                                           NULL);
            if (error == NULL || PyList_SetItem(items, n, error) < 0) {
                Py_DECREF(items);
                return NULL;
            }
        }
    }
    return items;
}

/* Sets a TypeError that ends with the name of the object's type. */
static void *
wrong_type(const char *wanted, PyObject *object)
{
    PyObject *name = PyType_GetName(Py_TYPE(object));
    if (name != NULL) {
        PyErr_Format(PyExc_TypeError, "%s, not %U", wanted, name);
        Py_DECREF(name);
    }
    return NULL;
}

/* Returns the one argument of a method, borrowed, or NULL; fallback is for a call without any. */
static PyObject *
only_argument(PyObject *const *values, Py_ssize_t count, PyObject *names, const char *method,
              const char *name, PyObject *fallback)
{
    Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
    if (count == 0 && named == 0 && fallback != NULL) {
        return fallback;
    }
    if (count + named != 1) {
        PyErr_Format(PyExc_TypeError, "%s() takes one argument, %s", method, name);
        return NULL;
    }
    if (named) {
        PyObject *given = PyTuple_GetItem(names, 0);
        if (PyUnicode_CompareWithASCIIString(given, name) != 0) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", method,
                         given);
            return NULL;
        }
    }
    return values[0];
}

static PyObject *
decoder_receive_data(Decoder *self, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    PyObject *chunk = only_argument(values, count, names, "receive_data", "chunk", NULL);
    if (chunk == NULL) {
        return NULL;
    }
    if (!PyBytes_Check(chunk) && !PyByteArray_Check(chunk) && !PyMemoryView_Check(chunk)) {
        return wrong_type("receive_data() takes bytes, bytearray or memoryview", chunk);
    }
    /* As bytes() does: what can change is copied, whatever its layout. */
    PyObject *bytes = PyObject_Bytes(chunk);
    if (bytes == NULL) {
        return NULL;
    }
    PyObject *items = NULL;
    Py_ssize_t size = PyBytes_Size(bytes);
    if (size && self->place == END) {
        PyErr_SetString(PyExc_RuntimeError,
                        "receive_data() was called with data after receive_eof()");
    }
    else {
        items = receive(self, PyBytes_AsString(bytes), size);
    }
    Py_DECREF(bytes);
    return items;
}

static PyObject *
decoder_receive_eof(Decoder *self, PyObject *const *values, Py_ssize_t count, PyObject *names)
{
    PyObject *reason = only_argument(values, count, names, "receive_eof", "reason", Py_None);
    if (reason == NULL) {
        return NULL;
    }
    if (count + (names == NULL ? 0 : PyTuple_Size(names)) && !PyUnicode_Check(reason)) {
        return wrong_type("reason must be a str", reason);
    }
    int good = reason == Py_None || PyUnicode_CompareWithASCIIString(reason, "end of stream") == 0;
    int flush = self->flush_unfinished && good && self->place != END;
    PyObject *items = receive(self, "\n\n", flush ? 2 : 0);
    if (items != NULL) {
        forget_event(self);
        self->bom_size = 0;
        self->place = END;
    }
    return items;
}

static PyObject *
decoder_last_event_id(Decoder *self, void *unused)
{
    return Py_NewRef(self->last_event_id);
}

static PyObject *
decoder_retry_ms(Decoder *self, void *unused)
{
    return Py_NewRef(self->retry_ms == NULL ? Py_None : self->retry_ms);
}

static PyObject *
decoder_pending(Decoder *self, void *unused)
{
    return PyBool_FromLong(self->held || self->line.size || self->bom_size);
}

/* Whether anything but a comment is unfinished. */
static PyObject *
decoder_begun(Decoder *self, void *unused)
{
    Field *line = &self->line;
    return PyBool_FromLong(self->held || self->bom_size ||
                           (line->size && line->start[0] != ':'));
}

static PyObject *
decoder_over(Decoder *self, void *unused)
{
    return PyBool_FromLong(self->place == END);
}

/* Type and module */

static PyModuleDef *definition(void);

/* Returns the state of the module that made the type from which this one is derived. */
static State *
state_of(PyTypeObject *type)
{
    while (type != NULL) {
        PyObject *module = PyType_GetModule(type);
        if (module != NULL && PyModule_GetDef(module) == definition()) {
            return PyModule_GetState(module);
        }
        PyErr_Clear();
        type = PyType_GetSlot(type, Py_tp_base);
    }
    PyErr_SetString(PyExc_SystemError, "the type is not derived from that of the module");
    return NULL;
}

static PyObject *
decoder_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    State *state = state_of(type);
    if (state == NULL) {
        return NULL;
    }
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    Decoder *self = (Decoder *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->last_event_id = PyUnicode_FromString("");
    if (self->last_event_id == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

/* Takes arguments that have been checked, by position. */
static int
decoder_init(Decoder *self, PyObject *arguments, PyObject *keywords)
{
    PyObject *limit, *last_event_id;
    int comments, flush_unfinished, plain_frames;
    if (!PyArg_ParseTuple(arguments, "O!Uppp", &PyLong_Type, &limit, &last_event_id, &comments,
                          &flush_unfinished, &plain_frames)) {
        return -1;
    }
    Py_ssize_t max_event_bytes = PyLong_AsSsize_t(limit);
    if (max_event_bytes == -1 && PyErr_Occurred()) {
        PyErr_Clear(); /* larger than anything that fits into memory */
        max_event_bytes = PY_SSIZE_T_MAX;
    }
    if (check_idle(self) < 0) {
        return -1;
    }
    forget_event(self);
    PyObject *old_limit = self->limit, *old_id = self->last_event_id, *old_retry = self->retry_ms;
    self->limit = Py_NewRef(limit);
    self->last_event_id = Py_NewRef(last_event_id);
    self->retry_ms = NULL;
    self->max_event_bytes = max_event_bytes;
    self->comments = (char)comments;
    self->flush_unfinished = (char)flush_unfinished;
    self->plain_frames = (char)plain_frames;
    self->place = START;
    self->bom_size = 0;
    self->after_cr = self->line_begun = 0;
    Py_XDECREF(old_limit);
    Py_DECREF(old_id);
    Py_XDECREF(old_retry);
    return 0;
}

/* Nothing is cleared: a cycle through a decoder goes through an object that can be, such as the
   attributes of a str of a derived class. */
static int
decoder_traverse(Decoder *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->limit);
    Py_VISIT(self->last_event_id);
    return 0;
}

static void
decoder_dealloc(Decoder *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    PyMem_Free(self->line.own);
    PyMem_Free(self->data.own);
    PyMem_Free(self->type.own);
    PyMem_Free(self->id.own);
    Py_XDECREF(self->limit);
    Py_XDECREF(self->last_event_id);
    Py_XDECREF(self->retry_ms);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef decoder_methods[] = {
    {"receive_data", (PyCFunction)(void (*)(void))decoder_receive_data,
     METH_FASTCALL | METH_KEYWORDS,
     "receive_data($self, chunk)\n--\n\n"
     "Take the next bytes and return what they complete, in order: events, ``EventTooLarge``\n"
     "and, if asked for, comments.\n\n"
     "No bytes make it raise, and nothing of the caller's buffer is kept. After an\n"
     "``EventTooLarge`` the decoder reads on from the next block. Raises TypeError if ``chunk`` is\n"
     "not bytes-like, RuntimeError for data that comes after ``receive_eof()``."},
    {"receive_eof", (PyCFunction)(void (*)(void))decoder_receive_eof,
     METH_FASTCALL | METH_KEYWORDS,
     "receive_eof($self, reason='end of stream')\n--\n\n"
     "Say that the stream has ended, for whatever ``reason`` (str); calling it again is\n"
     "harmless. Raises TypeError if ``reason`` is not a str.\n\n"
     "Returns what the end completes, which is nothing: an unfinished event is dropped, as the\n"
     "standard says (\"Once the end of the file is reached, any pending data must be discarded\").\n"
     "Only with ``flush_unfinished``, and for the reason ``\"end of stream\"``, the end counts as\n"
     "the missing line ends. Look at ``pending`` before, to learn whether an event was unfinished."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef decoder_attributes[] = {
    {"last_event_id", (getter)decoder_last_event_id, NULL,
     "The stream's last event id (str): committed at each blank line, with data or without.", NULL},
    {"retry_ms", (getter)decoder_retry_ms, NULL,
     "The last valid ``retry:`` in milliseconds, or None; it counts once its line has ended.",
     NULL},
    {"pending", (getter)decoder_pending, NULL,
     "Whether bytes of an unfinished line or block are held.", NULL},
    {"over", (getter)decoder_over, NULL,
     "Whether nothing more will come out: after ``receive_eof()``, and only then.", NULL},
    {"_begun", (getter)decoder_begun, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot decoder_slots[] = {
    {Py_tp_new, decoder_new},
    {Py_tp_init, decoder_init},
    {Py_tp_traverse, decoder_traverse},
    {Py_tp_dealloc, decoder_dealloc},
    {Py_tp_methods, decoder_methods},
    {Py_tp_getset, decoder_attributes},
    {0, NULL},
};

static PyType_Spec decoder_spec = {
    .name = "ratatoskr_proto._wire_c.Decoder",
    .basicsize = sizeof(Decoder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = decoder_slots,
};

static PyObject *
attribute(PyObject *module, const char *name)
{
    return module == NULL ? NULL : PyObject_GetAttrString(module, name);
}

static int
module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    PyObject *frames = PyImport_ImportModule("ratatoskr_proto._frames");
    PyObject *errors = PyImport_ImportModule("ratatoskr_proto._errors");
    state->event_type = attribute(frames, "ServerSentEvent");
    state->comment_type = attribute(frames, "Comment");
    state->error_type = attribute(errors, "EventTooLarge");
    state->message = PyUnicode_FromString("message");
    state->new_tuple = PyType_GetSlot(&PyTuple_Type, Py_tp_new);
    Py_XDECREF(frames);
    Py_XDECREF(errors);
    if (PyErr_Occurred()) {
        return -1;
    }
    PyObject *type = PyType_FromModuleAndSpec(module, &decoder_spec, NULL);
    if (type == NULL) {
        return -1;
    }
    int result = PyModule_AddObjectRef(module, "Decoder", type);
    Py_DECREF(type);
    return result;
}

static int
module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    if (state != NULL) {
        Py_VISIT(state->event_type);
        Py_VISIT(state->comment_type);
        Py_VISIT(state->error_type);
    }
    return 0;
}

static int
module_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    if (state != NULL) {
        Py_CLEAR(state->event_type);
        Py_CLEAR(state->comment_type);
        Py_CLEAR(state->error_type);
        Py_CLEAR(state->message);
    }
    return 0;
}

static void
module_free(void *module)
{
    module_clear(module);
}

/* 3.11 does not know the slot that allows interpreters with a lock of their own. */
#define MULTIPLE_INTERPRETERS 3
#define PER_INTERPRETER_GIL ((void *)2)

static PyModuleDef_Slot slots_of_3_11[] = {{Py_mod_exec, module_exec}, {0, NULL}};
static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, module_exec},
    {MULTIPLE_INTERPRETERS, PER_INTERPRETER_GIL},
    {0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "ratatoskr_proto._wire_c",
    .m_size = sizeof(State),
    .m_slots = slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

static PyModuleDef *
definition(void)
{
    return &module_definition;
}

PyMODINIT_FUNC
PyInit__wire_c(void)
{
    if (Py_Version < 0x030C0000) {
        module_definition.m_slots = slots_of_3_11;
    }
    return PyModuleDef_Init(&module_definition);
}
