"""The sidecars that it takes to see every answer of the contract, by name; those that are asked for are started."""
import contextlib
import os
import subprocess

from support.processes import Postgres, Sidecar

TOKEN = "0123456789abcdef0123456789abcdef"
SETTINGS = {
    "plain": {"sequence": "global_id_seq,orders"},
    "steps": {"sequence": "even"},
    "token": {"SOCKET_AUTH": "yes"},
    "rate": {"RATE": "1/h"},
    "full": {"CONNECTIONS_MAX": "1"},
    "other user": {"SOCKET_ALLOW_UID": os.geteuid() + 1},
    "dry": {"WAIT_MAX": "0s"},
}


class Sidecars(contextlib.ExitStack):
    def __enter__(self):
        self.started = {}
        self.postgres = self.enter_context(Postgres())
        self.postgres.sql("CREATE SEQUENCE global_id_seq; CREATE SEQUENCE orders; CREATE SEQUENCE even START 2 INCREMENT 2")
        return self

    def __getitem__(self, name):
        if name not in self.started:
            self.started[name] = self.start(name)
        return self.started[name]

    def start(self, name):
        settings = dict(SETTINGS[name])
        if "sequence" not in settings:
            settings["sequence"] = f"{name.replace(' ', '_')}_seq"
            self.postgres.sql(f"CREATE SEQUENCE {settings['sequence']}")
        if name == "token":
            settings["TOKEN_FILE"] = self.postgres.folder / "tokens"
            settings["TOKEN_FILE"].write_text(f"{TOKEN}\n")
        sidecar = self.enter_context(Sidecar(None if name == "dry" else self.postgres, **settings))
        if name == "full":
            self.enter_context(sidecar.connect())
        if name == "rate":
            for client in (["--unix-socket", sidecar.socket, "http://localhost/next-id"], [f"http://{sidecar.address('http')}/next-id"]):
                subprocess.run(["curl", "--silent", "--fail", "--output", "/dev/null", *client], check=True)
        return sidecar
