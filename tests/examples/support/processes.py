"""The processes of a test: a PostgreSQL of its own, and sidecars of the built program. Each lies in a folder that goes with it, and
dies with the test process, however that dies."""
import ctypes
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("NEXT_ID_BUILD_DIR", ROOT / "build/dev"))
PROGRAM = BUILD / "next-id"
PATIENCE_S = 30

libc = ctypes.CDLL(None)
web = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever proxy is set


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {PATIENCE_S} s until {what}")
        time.sleep(0.02)
    return result


def dies_with_us(deadly):
    return lambda: libc.prctl(1, deadly)  # PR_SET_PDEATHSIG


def make_folder(kind, place="/tmp"):
    """Short, for the path of a Unix socket has 107 bytes."""
    return pathlib.Path(tempfile.mkdtemp(prefix=f"next-id-{kind}.", dir=place))


class Process:
    """A program that logs into its folder."""

    def __init__(self, folder):
        self.folder, self.process = folder, None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, failure, *_):
        if failure:
            print(f"--- {self.folder.name}\n{self.log()[-3000:]}")
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        """Since the last start."""
        return (self.folder / "log").read_text()

    def launch(self, command, environment, deadly, user=None):
        with open(self.folder / "log", "w") as log:
            self.process = subprocess.Popen(command, env=environment, user=user, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=dies_with_us(deadly))

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()
            self.process = None

    def wait_until_up(self, is_up, what):
        wait_until(lambda: self.process.poll() is not None or is_up(), what)
        if self.process.poll() is not None:
            raise AssertionError(f"it ended before {what}:\n{self.log()}")


class Postgres(Process):
    """Reachable by its Unix socket alone: `folder` is the host, 5432 the port, postgres the database and its user."""

    def __init__(self):
        super().__init__(make_folder("pg"))
        # As root it refuses to run.
        self.user = None if os.geteuid() else pwd.getpwnam("postgres").pw_uid
        if self.user is not None:
            os.chown(self.folder, self.user, -1)
        chosen = os.environ.get("NEXT_ID_PG_BIN")
        self.bin = pathlib.Path(chosen) if chosen else max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: int(each.parent.name))

    @property
    def url(self):
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def start(self):
        data = self.folder / "data"
        if not data.exists():
            subprocess.run([self.bin / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
                           user=self.user, cwd="/", check=True, stdout=subprocess.DEVNULL)
        self.launch([self.bin / "postgres", "-D", data, "-c", "listen_addresses=", "-c", f"unix_socket_directories={self.folder}",
                     "-c", "fsync=off", "-c", "shared_buffers=16MB"], os.environ, signal.SIGQUIT, self.user)
        self.wait_until_up(lambda: (self.folder / ".s.PGSQL.5432").exists() and self.try_sql("SELECT").returncode == 0, "PostgreSQL answers")

    def try_sql(self, text):
        return subprocess.run([self.bin / "psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.url], input=text,
                              capture_output=True, text=True)

    def sql(self, text):
        done = self.try_sql(text)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


class Sidecar(Process):
    """Serves `sequence` of `postgres`, or is without a database when that is None. Settings are named as in the environment, without
    NEXT_ID_ in front."""

    def __init__(self, postgres, sequence="global_id_seq", **settings):
        super().__init__(make_folder("sidecar", "/dev/shm"))  # on a tmpfs, so that windows are adopted
        self.socket = self.folder / "s"
        settings = {"SOCKET": self.socket, "HTTP": "127.0.0.1:0", "ADMIN": "127.0.0.1:0", "STATE_DIR": self.folder / "state",
                    "LOG_FORMAT": "json", "WAIT_MAX": "20s"} | settings
        self.environment = {"PG_HOST": str(postgres.folder) if postgres else str(self.folder), "PG_DATABASE": "postgres",
                            "PG_USER": "postgres", "PG_PASSWORD": "", "PG_SEQUENCE": sequence}
        self.environment |= {f"NEXT_ID_{name}": str(value) for name, value in settings.items()}
        self.has_ids = postgres is not None

    def start(self):
        self.launch([PROGRAM, "serve"], self.environment, signal.SIGKILL)
        self.wait_until_up(lambda: self.address("admin"), "the sidecar listens")  # the last of its listeners
        if self.has_ids:
            self.wait_until_up(self.is_ready, "the sidecar has IDs")

    def address(self, listener):
        """host:port of http or admin, once it listens."""
        found = re.search(rf'"listening","{listener}":"([^"]*)"', self.log())
        return found and found[1]

    def is_ready(self):
        try:
            with web.open(f"http://{self.address('admin')}/readyz", timeout=5):
                return True
        except OSError:
            return False

    def connect(self):
        """A connection to its Unix socket."""
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE_S)
        connection.connect(str(self.socket))
        return connection

    def client_environment(self):
        """Of a program that is to find this sidecar."""
        return {"PATH": os.environ["PATH"], "NEXT_ID_SOCKET": str(self.socket), "NEXT_ID_HTTP": self.address("http")}
