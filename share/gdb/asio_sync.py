# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

"""Printers for gdb: who holds a primitive of asio_sync, and who waits for it.

    (gdb) source /usr/local/share/asio_sync/gdb/asio_sync.py

They only read memory: a core file will do. doc/debugging.md shows what they print.
"""

import re

import gdb
import gdb.printing

# The bits in the words of permit_state, shared_mutex_state, event_state and flags_state. Debug
# information does not have these constants, because compilers fold them into the code.
MUTEX_CLOSED, MUTEX_DEAD, MUTEX_CARRIED, MUTEX_FREE, MUTEX_COUNT = 2, 4, 8, 16, 1 << 34
PERMITS_CLOSED, PERMITS_DEAD, PERMITS_ONE = 2, 4, 16
SHARED_CLOSED, SHARED_DEAD, SHARED_WRITER, SHARED_CARRIED = 2, 4, 8, 16
SHARED_MEMBER, SHARED_GUARD = 1 << 5, 1 << 35
SIGNAL_UP, SIGNAL_CLOSED = 2, 4
FLAGS_ONE = 1 << 32
KEYED_CLOSED, KEYED_DEAD = 1, 2
ASKED_ALL, ASKED_TAKES = 1 << 32, 1 << 33  # flags_request::packed()

NO_MAXIMUM = (1 << 56) - 1  # permit_state::most
STEPS_NOT_STARTED = (1 << 64) - 1  # enumerator_state::all
RESULT_HANDLER = "asio_sync::detail::result_handler"
CONDITION_HANDLER = "asio_sync::detail::condition_handler"
CONDITION_WAITER = "asio_sync::detail::condition_waiter"
VISIT_HANDLER = "asio_sync::detail::visit_handler"
VISIT_WAITER = "asio_sync::detail::visit_waiter"
MOST_CALLERS = 32  # of a coroutine; more than that are taken for a loop in spoilt memory


class Unreadable(Exception):
    """What is read makes no sense."""


# --- Values, names and symbols


def scalar(value):
    """The number inside of atomics, time points, coroutine handles and the like."""
    kind = value.type.strip_typedefs()
    if kind.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return int(value)
    for field in kind.fields():
        if hasattr(field, "bitpos") and field.type.strip_typedefs().sizeof:
            try:
                return scalar(value[field])
            except Unreadable:
                pass  # an empty class
    raise Unreadable(f"there is no number in {kind}")


def pointee(shared, kind):
    """What a shared_ptr to that class of the library's has."""
    kind = gdb.lookup_type("asio_sync::detail::" + kind)
    return gdb.Value(scalar(shared)).cast(kind.pointer()).dereference()


def enumerator(value):
    """The name of an enumerator without its scope."""
    return str(value).rsplit("::", 1)[-1]


def outline(name):
    """The name of a type without what its templates are given."""
    while "<" in name:
        shorter = re.sub(r"<[^<>]*>", "", name)
        if shorter == name:
            break
        name = shorter
    return name


def symbol_at(address):
    """The name of the function there. The symbol table tells lambdas apart, types may not."""
    said = gdb.execute(f"info symbol {address}", to_string=True)
    found = re.match(r"(.+?)(?: \+ \d+)? in section ", said)
    if found:
        return found[1]
    block = gdb.block_for_pc(address)
    return block.function.name if block and block.function else ""


def arguments_in(text):
    """The arguments of the template whose argument list `text` begins behind."""
    depth, start, found = 0, 0, []
    for place, letter in enumerate(text):
        if letter in "<({":
            depth += 1
        elif letter in ")}>" and depth > 0:
            depth -= 1
        elif letter in ",>" and depth == 0:
            found.append(text[start:place].strip())
            start = place + 1
            if letter == ">":
                return found
    raise Unreadable(f"no arguments: {text}")


def counted(number, noun):
    """One wait, 2 waits, no waits."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def pointer_text(pointer):
    """An address, with the name of the variable that is there."""
    return str(pointer.cast(gdb.lookup_type("void").pointer()))


def in_one_line(error):
    """What went wrong, for people."""
    return f"<unreadable: {' '.join(str(error).split())}>"


# --- One wait


def as_made(waiter, act):
    """The waiter as what it was made as, with its handler; None where that is not known."""
    block = gdb.block_for_pc(act)
    for symbol in block or ():
        if symbol.name == "self":
            kind = symbol.type.strip_typedefs().target()
            return waiter.address.cast(kind.pointer()).dereference()
    return None


def coroutine_name(symbol):
    """The name of a coroutine, of that of the function that resumes it."""
    name = re.sub(r" \[clone [^]]*\]", "", symbol)
    if not re.search(r"\.Frame ?\*\)$", name):
        return name
    depth = 0
    for place in range(len(name) - 1, 0, -1):
        depth += (name[place] == ")") - (name[place] == "(")
        if depth == 0:
            return name[:place]
    return name


def coroutine_names(handler):
    """The coroutine that the handler resumes, then those that await it; without the libraries'."""
    names = []
    frame = handler["bottom_of_stack_"]["frame_"]["top_of_stack_"]
    void = gdb.lookup_type("void").pointer()
    for _ in range(MOST_CALLERS):
        if not frame:
            break
        # A coroutine's frame begins with the function that resumes it.
        resume = gdb.Value(scalar(frame["coro_"])).cast(void.pointer()).dereference()
        name = coroutine_name(symbol_at(int(resume)))
        if not name.startswith(("boost::asio::", "asio_sync::detail::")):
            names.append(name or hex(int(resume)))
        frame = frame["caller_"]
    return names


def handler_of(waiter):
    """Its handler, which may stand beside a predicate, a lock or a function."""
    handler = waiter["handler_"]
    kind = outline(handler.type.strip_typedefs().name)
    return handler["handler"] if kind in (CONDITION_HANDLER, VISIT_HANDLER) else handler


def who_waits(waiter):
    """Its kind, and the name of the coroutine or the type of the handler."""
    act = int(waiter["act"])
    symbol = symbol_at(act)
    if re.search(r"asio_sync::detail::(block_thread|wait_in_thread_with)<", symbol):
        return "thread"
    try:
        names = coroutine_names(handler_of(as_made(waiter, act)))
        if names:
            return "coroutine " + " in ".join(names)
    except (gdb.error, TypeError, Unreadable):
        pass  # no coroutine of Asio's
    kind, begin, arguments = symbol.partition("_waiter<")
    if not begin:
        return f"wait of an unknown kind, {symbol or hex(act)}"
    kind = "coroutine" if kind.endswith("coroutine") else "callback"
    handler = arguments_in(arguments)[-1]
    if handler.startswith(RESULT_HANDLER + "<"):
        handler = arguments_in(handler[len(RESULT_HANDLER) + 1:])[-1]
    for holder in (CONDITION_HANDLER, VISIT_HANDLER):
        if handler.startswith(holder + "<"):
            handler = arguments_in(handler[len(holder) + 1:])[0]
    return f"{kind} {handler}"


def deadline_of(waiter):
    """Until when it waits, as its service knows; None without a deadline."""
    index = int(waiter["heap_index"])
    if index == int(waiter["not_timed"]) or not waiter["service"]:
        return None
    entries = waiter["service"].dereference()["deadlines_"]["entries_"]
    try:
        begin = entries["_M_impl"]["_M_start"]
    except gdb.error:
        begin = entries["__begin_"]  # libc++
    entry = begin[index]
    if entry["wait"] != waiter.address:
        return "a time that its service does not know"
    return f"{scalar(entry['deadline']) / 1e9:.3f} s"


def permits_asked(waiter):
    """What a semaphore's wait is for."""
    if outline(waiter.type.strip_typedefs().name) != "asio_sync::detail::valued_waiter":
        return ""
    return "for " + counted(int(waiter["value"]), "permit")


def mode_asked(waiter):
    """What a shared mutex's wait is for."""
    modes = {"exclusive": "to write", "shared": "to read", "upgrade": "to write, reads"}
    return modes[enumerator(waiter["request"]["mode"])]


def flags_asked(waiter):
    """What a mailbox's wait is for."""
    value = int(waiter["value"])
    asked = f"{'all' if value & ASKED_ALL else 'any'} of {value % FLAGS_ONE:#x}"
    return ("takes " if value & ASKED_TAKES else "looks at ") + asked


def condition_text(waiter):
    """Which lock the wait of a condition is to have again, or of which condition it comes."""
    mutex = waiter["mutex"]
    if not mutex:
        return "without a mutex"
    if enumerator(waiter["place"]["state"]) == "queued":
        return f"has let go of {pointer_text(mutex['primitive_'])}"
    return f"from {pointer_text(waiter['core']['primitive_'])}"


def wait_text(waiter, asked=permits_asked):
    """One wait, in a line."""
    parts = [who_waits(waiter), asked(waiter)]
    parts = [part for part in parts if part]
    kind = outline(waiter.type.strip_typedefs().name)
    if kind == "asio_sync::detail::latch_waiter" and waiter["participant"]:
        parts.append("has arrived")
    deadline = deadline_of(waiter)
    if deadline:
        parts.append("until " + deadline)
    work = enumerator(waiter["work"])
    if work != "none" and kind not in (CONDITION_WAITER, VISIT_WAITER):  # which have no home
        parts.append("at home" if work == "home" else "elsewhere")
    queued = waiter
    if kind == CONDITION_WAITER:
        parts.append(condition_text(waiter))
        if enumerator(waiter["place"]["state"]) == "queued":
            queued = waiter["place"]
    state = enumerator(queued["state"])
    if state != "queued":
        parts.append(state)
        if enumerator(queued["outcome"]) != "undecided":
            parts.append(enumerator(queued["outcome"]))
    return ", ".join(parts)


def queued_at(core):
    """What is in the queue, oldest first. Throws at the first thing that cannot be."""
    expected = int(core["size_"])
    link, previous = core["queue_"]["head_"], 0
    for place in range(expected):
        if not link:
            raise Unreadable(f"the queue ends after {place} of {counted(expected, 'wait')}")
        if int(link["prev"]) != previous:
            raise Unreadable(f"the queue is broken at {link.format_string(symbols=False)}")
        yield link
        link, previous = link["next"], int(link)
    if link:
        raise Unreadable(f"the queue goes on after {counted(expected, 'wait')}")


def of_condition(waiter, core):
    """A wait in the queue of a mutex, as the condition's that it comes from; None if it is not."""
    try:
        comes = waiter.cast(gdb.lookup_type(CONDITION_WAITER).pointer())
        place = comes["place"]["wait"].referenced_value().address
        if int(comes["mutex"]) == int(core.address) and int(place) == int(waiter):
            return comes.dereference()
    except gdb.error:
        pass  # the program has no conditions
    return None


def waiter_of(core_type):
    """The type of a core's waits, which its base homed_core has as an argument."""
    kind = core_type.strip_typedefs()
    if outline(kind.name) == "asio_sync::detail::homed_core":
        return kind.template_argument(2)
    for base in kind.fields():
        if base.is_base_class:
            found = waiter_of(base.type)
            if found:
                return found
    return None


def waits_of(core, kind=None):
    """The waits of a core, as its type says or of that kind."""
    node = (kind or waiter_of(core.type)).pointer()
    for waiter in queued_at(core):
        if int(waiter["core"]) == int(core.address):
            yield waiter.cast(node).dereference()
            continue
        comes = of_condition(waiter, core)
        if comes is None:
            raise Unreadable(f"the queue is broken at {waiter.format_string(symbols=False)}")
        yield comes


def visit_of(waiter):
    """A wait for a monitor as the visit that it is; None if it is a plain one."""
    way = waiter["way"]
    if not way or outline(way.dynamic_type.target().name) != "asio_sync::detail::visit_route":
        return None
    return waiter.cast(gdb.lookup_type(VISIT_WAITER))


def visit_asked(visit):
    """What a visit to a monitor waits for."""
    if enumerator(visit["phase"]) == "parked":
        return "has looked"
    return "is to look" if enumerator(visit["state"]) == "decided" else ""


def waits_for_monitor(core):
    """The waits for a monitor: that which looks, those that have looked, and the queue."""
    if core["visiting_"]:
        yield core["visiting_"].dereference()
    link = core["parked_"]["head_"]
    for _ in range(scalar(core["parked_size_"])):
        if not link or int(link["core"]) != int(core.address):
            raise Unreadable("who has looked is not all there")
        yield link.dereference()
        link = link["next"]
    yield from waits_of(core, gdb.lookup_type("asio_sync::detail::waiter"))


def notified_by(core):
    """The waits of a condition, whose queue is one of places."""
    for place in queued_at(core):
        waiter = place["wait"].referenced_value()
        if int(waiter["core"]) != int(core.address):
            raise Unreadable(f"the queue is broken at {place.format_string(symbols=False)}")
        yield waiter


# --- The printers


class Printer:
    """Whatever goes wrong becomes a line, and no exception of Python's."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        """What gdb prints for the value."""
        try:
            return self.text()
        except Exception as error:  # pylint: disable=broad-except
            return f"{self.name} {in_one_line(error)}"


class PrimitivePrinter(Printer):
    """A primitive: its state in a line, and its waits."""

    def core(self):
        """The core, if it is this primitive's."""
        core = self.value["core_"]
        if not core:
            raise Unreadable("it has no core")
        core = core.dereference()
        if self.value.address is not None and int(core["primitive_"]) != int(self.value.address):
            raise Unreadable("it was not constructed, or is destroyed")
        return core

    def text(self):
        """Its state."""
        core = self.core()
        parts = [self.name] + self.state(core) + [counted(self.size(core), "wait")]
        if scalar(core["lock_"]):
            parts.append("a thread is changing it")
        return ", ".join(parts)

    def children(self):
        """Its waits."""
        place = 0
        try:
            self.text()
        except Exception:  # pylint: disable=broad-except
            return  # the line says so
        try:
            for waiter in self.waits(self.core()):
                yield f"[{place}]", self.child(waiter)
                place += 1
        except Exception as error:  # pylint: disable=broad-except
            yield f"[{place}]", in_one_line(error)

    waits = staticmethod(waits_of)

    @staticmethod
    def size(core):
        """How many wait."""
        return int(core["size_"])

    @staticmethod
    def child(waiter):
        """What gdb is to print for a wait."""
        return waiter

    @staticmethod
    def others(what, number):
        """What has a count of the core, beside the primitive."""
        return [f"{what}: {number}"] if number else []


class MutexPrinter(PrimitivePrinter):
    """basic_async_mutex"""

    name = "async_mutex"

    def state(self, core):
        """Who holds it, and whether it is closed."""
        word = scalar(core["word_"])
        if word & MUTEX_DEAD:
            raise Unreadable("it is destroyed")
        carried = bool(word & MUTEX_CARRIED)
        if carried:
            holder = "held by a guard or on its way to one"
        else:
            holder = "free" if word & MUTEX_FREE else "held without a guard"
        more = word // MUTEX_COUNT - 1 - carried
        return ([holder] + ["closed"] * bool(word & MUTEX_CLOSED) +
                self.others("refusals on the way or waits on a condition", more))


class MonitorPrinter(MutexPrinter):
    """basic_async_monitor"""

    name = "async_monitor"
    waits = staticmethod(waits_for_monitor)

    @staticmethod
    def size(core):
        """How many wait, wherever they are."""
        return int(core["size_"]) + scalar(core["parked_size_"]) + bool(core["visiting_"])

    def children(self):
        """The object, and its waits."""
        try:
            yield "object", self.core()["object"]
        except Exception:  # pylint: disable=broad-except
            return  # the line says so
        yield from super().children()

    @staticmethod
    def child(waiter):
        """A wait, and whether it has looked."""
        visit = visit_of(waiter)
        return wait_text(waiter) if visit is None else wait_text(visit, visit_asked)


class SharedMutexPrinter(PrimitivePrinter):
    """basic_async_shared_mutex"""

    name = "async_shared_mutex"

    def state(self, core):
        """Who writes or reads, and whether it is closed."""
        word = scalar(core["word_"])
        if word & SHARED_DEAD:
            raise Unreadable("it is destroyed")
        guards = word // SHARED_GUARD
        members = word % SHARED_GUARD // SHARED_MEMBER
        if word & SHARED_WRITER:
            if word & SHARED_CARRIED:
                holders = ["written by a guard or on its way to one"]
            else:
                holders = ["written without a guard"]
        else:
            holders = (self.others("readers with guards or on the way", guards) +
                       self.others("readers without", members))
        return (holders or ["free"]) + ["closed"] * bool(word & SHARED_CLOSED)

    @staticmethod
    def child(waiter):
        """A wait with its mode."""
        return wait_text(waiter, mode_asked)


class SemaphorePrinter(PrimitivePrinter):
    """basic_async_semaphore"""

    name = "async_semaphore"

    def state(self, core):
        """What is free, and how many are held."""
        word = scalar(core["word_"])
        if word & PERMITS_DEAD:
            raise Unreadable("it is destroyed")
        free = word // PERMITS_ONE
        most = int(core["many_"]["full"]) // PERMITS_ONE
        limit = "" if most == NO_MAXIMUM else f" of at most {most}"
        held = int(core["many_"]["total"]) - free
        return ([f"{free} free{limit}"] +
                ["closed"] * bool(word & PERMITS_CLOSED) +
                self.others("held or on the way", held))


class EventPrinter(PrimitivePrinter):
    """basic_async_manual_reset_event"""

    name = "async_manual_reset_event"

    def state(self, core):
        """Whether it is set."""
        word = scalar(core["word_"])
        return (["set" if word & SIGNAL_UP else "not set"] +
                ["closed"] * bool(word & SIGNAL_CLOSED) +
                self.others("completions on the way", scalar(core["counts_"]) - 1))


class LatchPrinter(PrimitivePrinter):
    """basic_async_latch"""

    name = "async_latch"

    def state(self, core):
        """What is left to count down; open once the flag is up, too."""
        word = scalar(core["word_"])
        left = "open" if word & SIGNAL_UP else f"{scalar(core['ahead_'])} to count down"
        return ([left] +
                ["closed"] * bool(word & SIGNAL_CLOSED) +
                self.others("completions on the way", scalar(core["counts_"]) - 1))


class GroupPrinter(PrimitivePrinter):
    """basic_async_group"""

    name = "async_group"

    def state(self, core):
        """How much is pending. Operations have counts, what was added by hand has none."""
        word = scalar(core["word_"])
        pending = scalar(core["pending_"])
        operations = pending - int(core["added_"])
        return ([f"{pending} pending" if pending else "nothing pending"] +
                ["closed"] * bool(word & SIGNAL_CLOSED) +
                self.others("completions on the way", scalar(core["counts_"]) - 1 - operations))


class BarrierPrinter(PrimitivePrinter):
    """basic_async_barrier"""

    name = "async_barrier"

    def state(self, core):
        """How many have still to arrive. All others are queued."""
        word = scalar(core["word_"])
        participants = int(core["participants_"])
        return ([f"{participants - int(core['size_'])} to arrive of {participants}"] +
                ["closed"] * bool(word & SIGNAL_CLOSED) +
                self.others("completions on the way", scalar(core["counts_"]) - 1))


class KeyedMutexPrinter(PrimitivePrinter):
    """basic_async_keyed_mutex"""

    name = "async_keyed_mutex"

    def state(self, core):
        """How many keys are in use. Who holds them has counts, and so have refusals."""
        word = scalar(core["word_"])
        keys = int(core["keys_"])
        return ([f"{keys or 'no'} key{'' if keys == 1 else 's'} in use"] +
                ["closed"] * bool(word & KEYED_CLOSED) +
                self.others("held or on the way", scalar(core["counts_"]) - 1))


class ConditionPrinter(PrimitivePrinter):
    """basic_async_condition"""

    name = "async_condition"
    waits = staticmethod(notified_by)

    def state(self, core):
        """Whether it is closed. What was notified is in the queue of its mutex, or on its way."""
        notified = scalar(core["counts_"]) - 1 - int(core["size_"])
        outcome = gdb.lookup_type("asio_sync::detail::wait_outcome")
        end = enumerator(gdb.Value(scalar(core["end_"])).cast(outcome))
        return (["closed"] * (end == "closed") +
                self.others("notified or on the way", notified))


class FlagsPrinter(PrimitivePrinter):
    """What has a flags_state"""

    def state(self, core):
        """What is up."""
        word = scalar(core["word_"])
        return ([self.flags(word // FLAGS_ONE)] +
                ["closed"] * bool(word & SIGNAL_CLOSED) +
                self.others("completions on the way", scalar(core["counts_"]) - 1))


class AutoEventPrinter(FlagsPrinter):
    """basic_async_auto_reset_event"""

    name = "async_auto_reset_event"

    @staticmethod
    def flags(up):
        """Whether it is set."""
        return "set" if up else "not set"


class MailboxPrinter(FlagsPrinter):
    """basic_async_mailbox"""

    name = "async_mailbox"

    @staticmethod
    def flags(up):
        """Which flags are up."""
        return f"flags {up:#x}" if up else "no flags"

    @staticmethod
    def child(waiter):
        """A wait with its flags: its type does not tell that its value is these."""
        return wait_text(waiter, flags_asked)


class EnumeratorPrinter(Printer):
    """basic_async_enumerator"""

    name = "async_enumerator"

    def text(self):
        """Which steps it runs, and what these wait for."""
        core = pointee(self.value["core_"], "enumerator_core")
        if not scalar(core["current_"]):
            return f"{self.name}, no run"
        run = pointee(core["current_"], "enumerator_run")
        state = run["state_"]
        frame = gdb.Value(scalar(run["steps_"]["coroutine_"]))
        void = gdb.lookup_type("void").pointer()
        resume = int(frame.cast(void.pointer()).dereference())
        parts = [self.name, "runs " + (coroutine_name(symbol_at(resume)) or hex(resume))]
        if enumerator(state["phase_"]) != "going":
            parts.append("cancelled")
        if state["has_turn_"]:
            parts.append("a thread is in it")
        elif int(state["wanted_"]) == STEPS_NOT_STARTED:
            parts.append("not started")
        else:
            wanted = int(state["wanted_"]) - int(state["surplus_"])
            parts.append("waits for " + counted(wanted, "completion"))
        return ", ".join(parts + [counted(int(state["pending_"]), "operation") + " pending"])


class GuardPrinter(Printer):
    """lock_type of a mutex"""

    name = "lock_type"

    def text(self):
        """Whether it owns, and what."""
        core = self.value["core_"]
        if not core:
            return f"{self.name}, empty"
        if scalar(core["word_"]) & MUTEX_DEAD:
            return f"{self.name}, of a mutex that has gone"
        hold = enumerator(self.value["hold_"])
        owns = {"owned": "owns", "lent": "upgrades"}.get(hold, "does not own")
        return f"{self.name}, {owns} {pointer_text(core['primitive_'])}"


class KeyedLockPrinter(Printer):
    """basic_async_keyed_mutex::keyed_lock"""

    name = "keyed_lock"

    def text(self):
        """Which key it holds, and of what."""
        entry = self.value["entry_"]
        if not entry:  # the core may be gone
            return f"{self.name}, empty"
        core = self.value["core_"]
        key = entry["key"].format_string()
        if scalar(core["word_"]) & KEYED_DEAD:
            return f"{self.name}, {key} of a mutex that has gone"
        return f"{self.name}, {key} of {pointer_text(core['primitive_'])}"


class SharedGuardPrinter(GuardPrinter):
    """basic_async_shared_mutex::shared_lock_type"""

    name = "shared_lock_type"


class PermitPrinter(Printer):
    """semaphore_permit"""

    name = "semaphore_permit"

    def text(self):
        """How many it holds, and of what."""
        count = int(self.value["count_"])
        if not count:  # the core may be gone
            return f"{self.name}, empty"
        core = self.value["core_"]
        what = counted(count, "permit")
        if scalar(core["word_"]) & PERMITS_DEAD:
            return f"{self.name}, {what} of a semaphore that has gone"
        return f"{self.name}, {what} of {pointer_text(core['primitive_'])}"


class WaitPrinter(Printer):
    """One of the queued waits"""

    name = "wait"

    def text(self):
        """One wait, in a line."""
        return wait_text(self.value)


PRINTERS = {
    "asio_sync::basic_async_mutex": MutexPrinter,
    "asio_sync::basic_async_mutex::lock_type": GuardPrinter,
    "asio_sync::basic_async_monitor": MonitorPrinter,
    "asio_sync::basic_async_shared_mutex": SharedMutexPrinter,
    "asio_sync::basic_async_shared_mutex::lock_type": GuardPrinter,
    "asio_sync::basic_async_shared_mutex::shared_lock_type": SharedGuardPrinter,
    "asio_sync::basic_async_semaphore": SemaphorePrinter,
    "asio_sync::semaphore_permit": PermitPrinter,
    "asio_sync::basic_async_manual_reset_event": EventPrinter,
    "asio_sync::basic_async_auto_reset_event": AutoEventPrinter,
    "asio_sync::basic_async_mailbox": MailboxPrinter,
    "asio_sync::basic_async_latch": LatchPrinter,
    "asio_sync::basic_async_barrier": BarrierPrinter,
    "asio_sync::basic_async_group": GroupPrinter,
    "asio_sync::basic_async_enumerator": EnumeratorPrinter,
    "asio_sync::basic_async_keyed_mutex": KeyedMutexPrinter,
    "asio_sync::basic_async_keyed_mutex::keyed_lock": KeyedLockPrinter,
    "asio_sync::basic_async_condition": ConditionPrinter,
    "asio_sync::detail::waiter": WaitPrinter,
    "asio_sync::detail::lock_waiter": WaitPrinter,
    "asio_sync::detail::valued_waiter": WaitPrinter,
    "asio_sync::detail::event_waiter": WaitPrinter,
    "asio_sync::detail::latch_waiter": WaitPrinter,
    "asio_sync::detail::barrier_waiter": WaitPrinter,
    "asio_sync::detail::keyed_waiter": WaitPrinter,
    CONDITION_WAITER: WaitPrinter,
}


class Printers(gdb.printing.PrettyPrinter):
    """All of them, for `info pretty-printer` and `disable pretty-printer`."""

    def __init__(self):
        named = [gdb.printing.SubPrettyPrinter(name) for name in PRINTERS]
        super().__init__("asio_sync", named)
        self.by_name = {each.name: each for each in named}

    def __call__(self, value):
        name = value.type.strip_typedefs().name
        if not name or not name.startswith("asio_sync::"):
            return None
        name = outline(name)
        if name not in PRINTERS or not self.by_name[name].enabled:
            return None
        return PRINTERS[name](value)


gdb.printing.register_pretty_printer(None, Printers(), replace=True)
