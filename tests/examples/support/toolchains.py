"""The languages of the examples, and what it takes to run programs in them."""
import os
import pathlib
import shutil
import tempfile

from support.processes import BUILD, ROOT

# What each needs, and the packages of Debian that have it.
TOOLCHAINS = {"shell": ("curl", "curl"), "C++": ("g++", "g++"), "C": ("gcc", "gcc"), "Python": ("python3", "python3"),
              "Node.js": ("node", "nodejs"), "Go": ("go", "golang-go"), "Java": ("java", "openjdk-17-jdk-headless"),
              "Ruby": ("ruby", "ruby"), "PHP": ("php", "php-cli php-curl"), "Rust": ("rustc", "rustc")}
SLOW_TO_INSTALL = {"Java"}


def there():
    """Those languages that can be tried. One may be missing if its toolchain takes long to install, but with NEXT_ID_LONG=1 none."""
    languages, skipped = [], []
    for language, (program, packages) in TOOLCHAINS.items():
        if shutil.which(program):
            languages.append(language)
        elif language in SLOW_TO_INSTALL and not os.environ.get("NEXT_ID_LONG"):
            skipped.append(f"{language} (no {program}: apt-get install {packages})")
        else:
            raise AssertionError(f"there is no {program} to try the example in {language} with: apt-get install {packages}")
    if skipped:  # tests/run.sh says it
        print(f"\nskipped: {len(skipped)} of {len(TOOLCHAINS)} languages: {', '.join(skipped)}")
    return languages


class Workshop(tempfile.TemporaryDirectory):
    """A folder to build in, with the tree's examples/ in it, and an environment in which the client library is found."""

    def __init__(self):
        super().__init__(prefix="next-id-examples.")

    def __enter__(self):
        self.folder = pathlib.Path(super().__enter__())
        (self.folder / "examples").symlink_to(ROOT / "examples")
        # What `cmake --install` would leave behind for pkg-config, of the library in the build tree.
        sanitize = os.environ.get("NEXT_ID_SANITIZE")
        flags = f"-fsanitize={sanitize}" if sanitize else ""
        (self.folder / "next_id.pc").write_text(
            f"Name: next_id\nDescription: not installed\nVersion: 0\nCflags: -I{ROOT}/protocol/client/include {flags}\n"
            f"Libs: -L{BUILD}/protocol/client -lnext_id {flags}\n")
        self.environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "GOCACHE": str(BUILD / "go-cache"),
                            "PKG_CONFIG_PATH": str(self.folder), "LD_LIBRARY_PATH": str(BUILD / "protocol/client")}
        return self
