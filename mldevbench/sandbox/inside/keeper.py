"""The first process inside a sandbox: starts commands for the supervisor and says how they ended.

It is one file of the standard library, told everything by its arguments and its control socket. In a process
namespace of its own it is process 1, which no signal from inside reaches; without one it only adopts orphans.
"""
# pathlib and contextlib would double the time that a sandbox takes to start.
# ruff: noqa: PTH103, PTH116, PTH123, PTH208, SIM105

# The wrappers around these import half the standard library: a third of the time that a sandbox takes to start.
import _ctypes
import _signal as signal  # pyright: ignore[reportMissingImports]
import _socket
import os
import resource
import select
import sys

SET_PDEATHSIG, SET_DUMPABLE, BOUNDING_DROP, SET_SUBREAPER, NO_NEW_PRIVS, AMBIENT = 1, 4, 24, 36, 38, 47
SCM_RIGHTS, SOL_SOCKET = _socket.SCM_RIGHTS, _socket.SOL_SOCKET
PAGE = resource.getpagesize()
TEMPORARY = ("/tmp", "/dev/shm")


def call(name, *arguments):
    """Call a function of the C library with whole numbers and bytes."""
    return _ctypes.call_function(_ctypes.dlsym(_ctypes.dlopen(None, 0), name), arguments)  # pyright: ignore


def prctl(option, argument=0):
    return call("prctl", option, argument, 0, 0, 0)


def drop(uid, gid):
    """Give up every privilege and become the inner user."""
    if os.geteuid() == 0 and uid:
        for capability in range(64):
            prctl(BOUNDING_DROP, capability)
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    prctl(AMBIENT, 4)
    version = (0x20080522).to_bytes(4, sys.byteorder)
    if call("capset", version + bytes(4), bytes(24)):
        os._exit(1)
    prctl(NO_NEW_PRIVS, 1)


class Process:
    """One line of the process table."""

    def __init__(self, pid):
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        self.pid = pid
        self.state = fields[0]
        self.parent, self.session = int(fields[1]), int(fields[3])
        self.threads = int(fields[17])


def processes():
    """Return all that this process table shows but ourselves."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                found.append(Process(int(name)))
            except (OSError, IndexError, ValueError):
                continue  # it ended while we looked
    return found


def family(roots, sessions, table):
    """Return the descendants of `roots` (with them) and whoever is in `sessions`."""
    members = {process.pid for process in table if process.pid in roots or process.session in sessions}
    grown = True
    while grown:
        size = len(members)
        members |= {process.pid for process in table if process.parent in members}
        grown = len(members) > size
    return members


class Keeper:
    def __init__(self, control, limits, alone):
        self.control = control
        self.limits = limits  # processes, data bytes, file bytes; 0 is none
        self.alone = alone  # whether all that we can see is ours
        self.commands = {}  # pid -> id

    def inmates(self):
        """Return every process that we answer for."""
        table = processes()
        if self.alone:
            return table
        mine = family({process.pid for process in table if process.parent == os.getpid()}, set(), table)
        return [process for process in table if process.pid in mine]

    def say(self, *words):
        self.control.send(" ".join(map(str, words)).encode())

    def start(self, number, body, stdin, stdout):
        """Fork a command; only the parent returns."""
        log, count, *rest = os.fsdecode(body).split("\0")
        environment, argv = dict(pair.split("=", 1) for pair in rest[: int(count)]), rest[int(count) :]
        try:
            pid = os.fork()
        except OSError as error:
            self.say("refused", number, error.errno)
            return
        if pid:
            self.commands[pid] = number
            self.say("pid", number, pid)
            return
        try:
            self.become(log, stdin, stdout)
            os.execvpe(argv[0], argv, environment)
        except BaseException as error:
            os.write(2, f"{argv[0]}: {error}\n".encode(errors="replace"))
        finally:
            os._exit(127)

    def become(self, log, stdin, stdout):
        """Turn the forked child into a clean process: session, signals, descriptors, limits."""
        os.setsid()
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        if log:
            stdout = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        if stdin is None:
            stdin = os.open("/dev/null", os.O_RDONLY)
        for source, target in ((stdin, 0), (stdout, 1), (stdout, 2)):
            os.dup2(source, target)
        os.closerange(3, 65536)
        kinds = (resource.RLIMIT_NPROC, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE)
        for kind, bound in zip(kinds, self.limits, strict=True):
            if bound:
                hard = resource.getrlimit(kind)[1]
                bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
                resource.setrlimit(kind, (bound, bound))
        prctl(SET_DUMPABLE, 1)  # which makes our own files in /proc ours again
        with open("/proc/self/oom_score_adj", "w") as file:  # the kernel should take us before the keeper
            file.write("500")

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid in self.commands:
                self.say("exit", self.commands.pop(pid), os.waitstatus_to_exitcode(status))

    def kill(self, number):
        """End a command with its session and its descendants; what daemonised itself lives on."""
        roots = {pid for pid, owner in self.commands.items() if owner == number}
        for _ in range(50):
            members = family(roots, roots, processes()) if roots else ()
            for act in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, none can fork or complain
                for pid in members:
                    signal_quietly(pid, act)
            if not any(process.pid in members and process.state != b"Z" for process in processes()):
                return

    def signal_all(self, number):
        """Signal every inmate, and again whoever they forked meanwhile, until none is new."""
        if self.alone:
            signal_quietly(-1, number)  # one atomic sweep of the namespace, ourselves excepted
            return
        seen = set()
        for _ in range(200):
            fresh = [process.pid for process in self.inmates() if process.pid not in seen]
            if not fresh:
                return
            for pid in fresh:
                signal_quietly(pid, number)
            seen.update(fresh)

    def freeze(self):
        self.signal_all(signal.SIGSTOP)
        poll = select.poll()
        for _ in range(2000):
            if all(process.state in b"TtZXx" for process in self.inmates()):
                return
            poll.poll(1)

    def usage(self):
        """Return tasks, bytes of memory, inodes on the temporary file systems, and bytes of nameless files on disk."""
        tasks, memory, inodes = 1, 0, 0
        table = self.inmates()
        for process in table:
            tasks += process.threads
            memory += anonymous(process.pid)
        nameless = deleted_bytes(table)
        disk = nameless.pop(os.stat(".").st_dev, 0)
        if self.alone:
            for folder in TEMPORARY:
                room = os.statvfs(folder)
                memory += (room.f_blocks - room.f_bfree) * room.f_frsize
                inodes += room.f_files - room.f_ffree
            memory += sum(nameless.values())
        return tasks, memory, inodes, disk

    def obey(self):
        """Do what one message asks for; the end of the messages is our end."""
        data, passed, _, _ = self.control.recvmsg(256, _socket.CMSG_SPACE(3 * 4))
        if not data:
            self.end()
        descriptors = [
            int.from_bytes(raw[i : i + 4], sys.byteorder) for _, _, raw in passed for i in range(0, len(raw), 4)
        ]
        kind, number = data.decode().split()
        if kind == "run":
            body, *streams = descriptors
            self.start(
                number, read_all(body), streams[1] if len(streams) > 1 else None, streams[0] if streams else None
            )
        elif kind == "kill":
            self.kill(number)
        elif kind == "freeze":
            self.freeze()
            self.say("done", number)
        elif kind == "thaw":
            self.signal_all(signal.SIGCONT)
            self.say("done", number)
        elif kind == "usage":
            self.say("usage", number, *self.usage())
        for descriptor in descriptors:
            os.close(descriptor)

    def end(self):
        """End, and the inmates first where our end is not theirs; orphans come to us, so no child means nobody."""
        poll = select.poll()
        for _ in range(5000):
            if self.alone:
                break
            self.signal_all(signal.SIGKILL)
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            poll.poll(2)
        os._exit(0)

    def serve(self):
        wake, poke = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(poke, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(self.control.fileno(), select.POLLIN)
        try:
            while True:
                for descriptor, _ in poll.poll():
                    if descriptor == wake:
                        drain(wake)
                        self.reap()
                    else:
                        self.obey()
        finally:  # a supervisor that died with our words unread resets the socket instead of ending it
            self.end()


def anonymous(pid):
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * PAGE


def deleted_bytes(table):
    """Return the size of open files without a name per device: memory or disk that no folder shows."""
    found = {}
    for process in table:
        folder = f"/proc/{process.pid}/fd"
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            try:
                status = os.stat(f"{folder}/{name}")
            except OSError:
                continue
            if not status.st_nlink and status.st_mode & 0o170000 == 0o100000:
                found[status.st_dev, status.st_ino] = status.st_blocks * 512
    sizes = {}
    for (device, _), size in found.items():
        sizes[device] = sizes.get(device, 0) + size
    return sizes


def signal_quietly(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def read_all(descriptor):
    os.lseek(descriptor, 0, os.SEEK_SET)
    parts = []
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def drain(descriptor):
    try:
        while os.read(descriptor, 4096):
            pass
    except BlockingIOError:
        pass


def listen(port):
    """Return the descriptor of a listener on this network's own loopback; whoever holds it answers."""
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", int(port)))
    listener.listen(128)
    return listener.detach()


def main():
    control, uid, gid, folder, doors, *bounds = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if control.isdigit():
        link = _socket.socket(fileno=int(control))
    else:
        link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        link.connect(control)
    os.set_inheritable(link.fileno(), False)
    alone = os.getpid() == 1
    drop(int(uid), int(gid))
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))  # 0 would still feed a host's program that collects cores
    prctl(SET_DUMPABLE, 0)
    if alone:
        prctl(SET_PDEATHSIG, signal.SIGKILL)  # a change of the user has cleared it
    else:
        prctl(SET_SUBREAPER, 1)  # and the end of the socket tells us to end the others first
    os.chdir(folder)
    os.makedirs(".home", exist_ok=True)
    null = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    given = [os.pidfd_open(os.getpid()), *(listen(port) for port in doors.split(",") if port)]
    rights = b"".join(descriptor.to_bytes(4, sys.byteorder) for descriptor in given)
    link.sendmsg([b"ready"], [(SOL_SOCKET, SCM_RIGHTS, rights)])
    for descriptor in given:  # outside they are safe from every signal inside
        os.close(descriptor)
    Keeper(link, [int(bound) for bound in bounds], alone).serve()


if __name__ == "__main__":
    main()
