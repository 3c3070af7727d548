#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Put AF_SHUFFLE into a tree of Linux, or make a series of patches of it.

usage: in_tree.py LINUX                      into the tree
       in_tree.py LINUX --series FOLDER      patches and a cover letter into FOLDER

LINUX is not written to if there is a --series.
"""
import argparse
import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
DOCUMENTS = ("api", "protocol", "schedule", "reliability", "security", "internals", "abi")
SELFTESTS = ("api.h", "api_row.h", "api_test.c", "api_msg.c", "api_vectors.c", "api_want.c",
             "api_absent.c", "api_same.c", "api_edges.c", "api_delay.c", "api_bounds.c",
             "api_waits.c", "api_signal.c", "shtest.c", "shtest.h", "shuffle_peer.c",
             "peer_options.c", "peer_options.h", "host_counter.c", "lib.sh", "cases_data.sh")
SELFTEST_DIR = "tools/testing/selftests/net/shuffle"


class Failed(Exception):
    pass


# ---- what a tree has ----

class Tree:
    """A kernel's sources, and what has been changed in them."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        # name: text, and its mode
        self.changed = {}
        self.mode = {}
        if not (self.path / "include/linux/socket.h").exists():
            raise Failed(f"{path}: no sources of Linux")
        if (self.path / "net/shuffle").exists():
            raise Failed(f"{path}: net/shuffle is there already")

    def read(self, name):
        return self.changed.get(name) or (self.path / name).read_text()

    def put(self, name, text, mode=0o644):
        self.changed[name] = text
        self.mode[name] = mode

    def edit(self, name, pattern, replacement, count=1):
        """Replace @pattern, which has to be there; a function gets the match."""
        text, n = re.subn(pattern, replacement, self.read(name), count=count, flags=re.M | re.S)
        if not n:
            raise Failed(f"{self.path / name}: nothing matches {pattern!r}: has this file "
                         "changed? See " + str(pathlib.Path(__file__).name))
        self.put(name, text, (self.path / name).stat().st_mode & 0o777)

    def has(self, word, header):
        path = self.path / "include/linux" / header
        return path.exists() and re.search(rf"\b{word}\b", path.read_text()) is not None


def add_number(tree):
    """AF_SHUFFLE, the next number; returns it."""
    number = int(re.search(r"^#define AF_MAX\s+(\d+)", tree.read("include/linux/socket.h"),
                           re.M).group(1))
    last = re.search(rf"^#define AF_(\w+)\s+{number - 1}\b", tree.read("include/linux/socket.h"),
                     re.M).group(1)
    socket = "include/linux/socket.h"
    tree.edit(socket, r"^#define AF_MAX\s+\d+",
              f"#define AF_SHUFFLE\t{number}\t/* Shuffles\t\t\t*/\n\n"
              f"#define AF_MAX\t\t{number + 1}")
    tree.edit(socket, r"\n\n(#define AF_SHUFFLE)", r"\n\1")
    tree.edit(socket, r"^#define PF_MAX\b", "#define PF_SHUFFLE\tAF_SHUFFLE\n#define PF_MAX")
    tree.edit("net/core/sock.c", r'^  x "AF_MAX"', '  x "AF_SHUFFLE", \\\n  x "AF_MAX"')
    selinux = "security/selinux/include/classmap.h"
    tree.edit(selinux, rf'^\t{{ "{last.lower()}_socket", [^\n]*\n',
              lambda m: m.group(0) + '\t{ "shuffle_socket", { COMMON_SOCK_PERMS, NULL } },\n')
    tree.edit(selinux, rf"PF_MAX > {number}\b", f"PF_MAX > {number + 1}")
    hooks = "security/selinux/hooks.c"
    tree.edit(hooks, rf"return SECCLASS_{last}_SOCKET;\n",
              lambda m: m.group(0) + "\t\tcase PF_SHUFFLE:\n\t\t\treturn SECCLASS_SHUFFLE_SOCKET;\n")
    tree.edit(hooks, rf"PF_MAX > {number}\b", f"PF_MAX > {number + 1}")
    return number


def insert_line(tree, name, line, pattern):
    """Insert @line in front of the first line that matches @pattern and sorts behind it."""
    lines = tree.read(name).split("\n")
    at = [i for i, old in enumerate(lines) if re.match(pattern, old)]
    if not at:
        raise Failed(f"{tree.path / name}: no line like {pattern!r}")
    place = next((i for i in at if lines[i] > line), at[-1] + 1)
    lines.insert(place, line)
    tree.put(name, "\n".join(lines))


def add_to_build(tree):
    tree.edit("net/Makefile", r"\Z", "obj-$(CONFIG_AF_SHUFFLE)\t+= shuffle/\n")
    tree.edit("net/Kconfig", r'^source "net/mctp/Kconfig"\n',
              lambda m: m.group(0) + 'source "net/shuffle/Kconfig"\n')
    tree.put("net/shuffle/Kconfig", (HERE / "Kconfig").read_text())
    insert_line(tree, "tools/testing/selftests/Makefile", "TARGETS += net/shuffle",
                r"TARGETS \+= net/")
    entry = """SHUFFLE SOCKETS (AF_SHUFFLE)
L:	netdev@vger.kernel.org
S:	Orphan
F:	Documentation/netlink/specs/shuffle.yaml
F:	Documentation/networking/shuffle/
F:	include/uapi/linux/shuffle*.h
F:	net/shuffle/
F:	tools/testing/selftests/net/shuffle/

"""
    text = tree.read("MAINTAINERS")
    heads = re.finditer(r"^(?=([A-Z0-9][^\n:]*)\n[MRLSWQBCPTFXNK]:)", text, re.M)
    at = next(m.start() for m in heads if m.group(1) > "SHUFFLE SOCKETS")
    tree.put("MAINTAINERS", text[:at] + entry + text[at:])


# ---- from the module to the tree ----

def unifdef(program, known, text):
    """Without the branches of conditions that are @known."""
    # 1: something has changed
    done = subprocess.run([program, *known], input=text.encode(), stdout=subprocess.PIPE,
                          check=False)
    if done.returncode > 1:
        raise Failed("unifdef failed")
    return done.stdout.decode()


def probes(tree):
    """What kernels.mk finds in the headers, as unifdef's options."""
    known = ["-DSHUFFLE_IN_TREE"]
    for word, header, name in re.findall(r"\$\(call has,(\w+),([\w./]+),(\w+)\)",
                                         (ROOT / "net/shuffle/kernels.mk").read_text()):
        known.append(("-D" if tree.has(word, header) else "-U") + "SHUFFLE_HAS_" + name)
    return known


def kernel_source(text):
    text = re.sub(r'^#include ["<](?:\.\./)*uapi/(linux/shuffle\w*\.h)[">]',
                  r"#include <uapi/\1>", text, flags=re.M)
    return text


def makefile(text, config):
    """Kbuild of the module as a Makefile of the tree."""
    text = re.sub(r"^# make reads Makefile.*\n", "", text, flags=re.M)
    text = re.sub(r"^# unit tests, where.*?^endif\n", "obj-$(CONFIG_AF_SHUFFLE_KUNIT_TEST) += test/\n",
                  text, flags=re.M | re.S)
    text = text.replace("obj-m +=", f"obj-$({config}) +=")
    text = re.sub(r"^include \$\(src\)/(?:\.\./)?kernels\.mk\n+", "", text, flags=re.M)
    # of the generator that 6.1 needs
    text = re.sub(r"# The generator makes.*?\nCFLAGS", "CFLAGS", text, flags=re.S)
    text = text.replace(" -Wno-discarded-qualifiers", "")
    text = re.sub(r" -I\$\(src\)/(?:\.\./)+uapi| -I\$\(src\)/\.\./\.\./?(?:\.\.)?(?=\s|$)", "", text)
    return text


def add_module(tree, number):
    with tempfile.TemporaryDirectory() as tmp:
        program = os.path.join(tmp, "unifdef")
        subprocess.run(["cc", "-w", "-o", program, str(tree.path / "scripts/unifdef.c")],
                       check=True)
        add_sources(tree, program)
    for path in sorted((ROOT / "uapi/linux").iterdir()):
        text = path.read_text()
        text = re.sub(r"^(#define SHUFFLE_DEFAULT_FAMILY\s+)\d+", rf"\g<1>{number}", text,
                      flags=re.M)
        text = re.sub(r"/\*\n \* The number is borrowed.*?\*/\n", "", text, flags=re.S)
        tree.put("include/uapi/linux/" + path.name, text)


def add_sources(tree, program):
    """@program: the tree's unifdef"""
    known = probes(tree)
    base = ROOT / "net/shuffle"
    for path in sorted(base.rglob("*")):
        name = str(path.relative_to(ROOT))
        if path.name == "Kbuild":
            config = "CONFIG_AF_SHUFFLE_KUNIT_TEST" if path.parent.name == "test" else \
                "CONFIG_AF_SHUFFLE"
            tree.put(name.replace("Kbuild", "Makefile"), makefile(path.read_text(), config))
        elif path.suffix in (".c", ".h") and in_kernel(path):
            text = path.read_text()
            if "SHUFFLE_HAS_" in text or "SHUFFLE_IN_TREE" in text:
                text = unifdef(program, known, text)
            tree.put(name, kernel_source(text))
    tree.put("net/shuffle/test/suites.mk", (base / "test/suites.mk").read_text())


def in_kernel(path):
    """Is a source of the tests for a kernel?  Others are for user space."""
    folder = path.parent
    if folder.name != "test":
        return True
    if path.suffix == ".h":
        return path.name not in ("fuzz.h", "user.h")
    lists = (folder / "suites.mk").read_text() + (folder / "Kbuild").read_text()
    lists = re.sub(r"^PLAN_SUITES.*", "", lists, flags=re.M)
    included = re.findall(r'^#include "(\w+)\.c"', (folder / "portable.c").read_text(), re.M)
    return re.search(rf"\b{path.stem}(\.o)?\b", lists) is not None or path.stem in included


def add_documents(tree):
    heads = []
    # of the whole project, which has its tools, its other documents and its tests elsewhere
    for name in DOCUMENTS:
        tree.put(f"Documentation/networking/shuffle/{name}.rst",
                 (ROOT / f"Documentation/networking/{name}.rst").read_text())
        heads.append("   " + name)
    tree.put("Documentation/networking/shuffle/index.rst",
             ".. SPDX-License-Identifier: GPL-2.0-only\n\n===============\nShuffle sockets\n"
             "===============\n\nThese documents are those of the project that the code comes from. "
             "Programs, libraries,\ntests and documents that they name and that are not in this tree are "
             "there.  A tree has a\nnumber of its own for the family, and no module parameter.\n\n"
             ".. toctree::\n   :maxdepth: 1\n\n" + "\n".join(heads) + "\n")
    insert_line(tree, "Documentation/networking/index.rst", "   shuffle/index", r"   \w")
    spec = "Documentation/netlink/specs/shuffle.yaml"
    tree.put(spec, (ROOT / spec).read_text().replace(
        "uapi/linux/shuffle_netlink.h, net/shuffle/netlink_gen.[ch] and\n# tools/shufflectl/"
        "shuffle_attrs.h.", "include/uapi/linux/shuffle_netlink.h, net/shuffle/netlink/netlink_gen.[ch]."))


def add_selftests(tree):
    for name in SELFTESTS:
        path = ROOT / "selftests/net/shuffle" / name
        text = path.read_text()
        text = text.replace('"../../../tools/common/tap.h"', '"tap.h"')
        text = text.replace('"$here/../../../tools/common/tap.sh"', '"$here/tap.sh"')
        text = text.replace("source=../../../tools/common/tap.sh", "source=tap.sh")
        text = text.replace('$(cd "$here/../../vm" && pwd)/kcsan.awk', "$here/kcsan.awk")
        text = text.replace('$(cd "$here/../../.." && pwd)/build/tools', "$here")
        tree.put(f"{SELFTEST_DIR}/{name}", text)
    for name in ("tools/common/tap.h", "tools/common/tap.sh", "selftests/vm/kcsan.awk"):
        tree.put(f"{SELFTEST_DIR}/{os.path.basename(name)}", (ROOT / name).read_text())
    programs = re.search(r"^TEST_GEN_PROGS := (.*?)\n#", (HERE / "selftests/Makefile").read_text(),
                         re.M | re.S).group(1).replace("\\", "").split()
    tree.put(f"{SELFTEST_DIR}/.gitignore", "# SPDX-License-Identifier: GPL-2.0-only\n" +
             "\n".join(sorted(programs + ["host_counter", "shuffle_peer"])) + "\n")
    for path in sorted((HERE / "selftests").iterdir()):
        tree.put(f"{SELFTEST_DIR}/{path.name}", path.read_text(), path.stat().st_mode & 0o777)


# ---- patches ----

class Patch:
    def __init__(self, path):
        self.text, _, files = path.read_text().partition("\nfiles:\n")
        self.patterns = files.split()

    def takes(self, name):
        return any(name.startswith(p) if p.endswith("/") else
                   name.count("/") == p.count("/") and fnmatch.fnmatchcase(name, p)
                   for p in self.patterns)


def sorted_into_patches(tree):
    """The files of each patch; each file is in the first one that takes it."""
    patches = [Patch(p) for p in sorted((HERE / "patches").glob("[0-9]*.txt"))][1:]
    files = [[] for _ in patches]
    for name in sorted(tree.changed):
        at = next((i for i, p in enumerate(patches) if p.takes(name)), None)
        if at is None:
            raise Failed(f"{name} is in no patch: see {HERE / 'patches'}")
        files[at].append(name)
    return patches, files


def objects_so_far(text, names):
    """The Makefile, as long as only sources of @names are there; no heading without objects."""
    kept = []
    heading = []
    for line in text.split("\n"):
        m = re.match(r"(shuffle-y \+?:?=) (.*)", line)
        if m:
            have = [o for o in m.group(2).split() if f"net/shuffle/{o[:-2]}.c" in names]
            if have:
                kept += heading + [f"{m.group(1)} {' '.join(have)}"]
                heading = []
        elif line.startswith("# ") and "SPDX" not in line:
            heading = [line]
        elif "_KUNIT_TEST" in line and "net/shuffle/test/Makefile" not in names:
            continue
        elif line.startswith("CFLAGS_") and "net/shuffle/netlink/netlink_gen.c" not in names:
            continue
        elif line or kept[-1]:
            kept.append(line)
    return "\n".join(kept)


def write(root, tree, names, so_far):
    for name in names:
        path = pathlib.Path(root) / name
        text = tree.changed[name]
        if name == "net/shuffle/Makefile":
            text = objects_so_far(text, so_far)
        path.parent.mkdir(parents=True, exist_ok=True)
        # the tree may be made of hard links
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(tree.mode[name])


def with_makefile(names, so_far):
    """The Makefile grows with each patch that has sources."""
    makefile_name = "net/shuffle/Makefile"
    if makefile_name in so_far and any(n.startswith("net/shuffle/") for n in names):
        return sorted(set(names) | {makefile_name})
    return names


def git(root, *args, **more):
    # nothing of this user's own settings
    env = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1")
    subprocess.run(["git", "-C", str(root), *args], check=True, env=env, **more)


def series(tree, patches, files, folder):
    """In a repository that has only what is changed: such patches fit the tree."""
    with tempfile.TemporaryDirectory() as tmp:
        git(tmp, "init", "-q")
        for name in tree.changed:
            old = tree.path / name
            if old.exists():
                path = pathlib.Path(tmp) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(old.read_bytes())
                path.chmod(old.stat().st_mode & 0o777)
        identity = [v for key, name in (("user.name", "AF_SHUFFLE developers"),
                                        ("user.email", "shuffle@localhost.localdomain"))
                    for v in ("-c", f"{key}={name}")]
        git(tmp, "add", "-A")
        git(tmp, *identity, "commit", "-q", "-m", "Linux")
        so_far = set()
        for patch, names in zip(patches, files):
            so_far |= set(names)
            write(tmp, tree, with_makefile(names, so_far), so_far)
            git(tmp, "add", "-A")
            git(tmp, *identity, "commit", "-q", "-F", "-", input=patch.text.encode())
        out = pathlib.Path(folder).resolve()
        out.mkdir(parents=True, exist_ok=True)
        cover = (HERE / "patches/00-cover.txt").read_text()
        git(tmp, *identity, "format-patch", "-q", "--cover-letter", "-o", str(out),
            f"HEAD~{len(patches)}")
        letter = out / "0000-cover-letter.patch"
        text = letter.read_text()
        subject, _, body = cover.partition("\n\n")
        letter.write_text(text.replace("*** SUBJECT HERE ***", subject)
                          .replace("*** BLURB HERE ***", body.rstrip()))
    print(f"{len(patches)} patches in {folder}")


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("linux", metavar="LINUX")
    args.add_argument("--series", metavar="FOLDER")
    args = args.parse_args()
    tree = Tree(args.linux)
    number = add_number(tree)
    add_module(tree, number)
    add_to_build(tree)
    add_documents(tree)
    add_selftests(tree)
    patches, files = sorted_into_patches(tree)
    if args.series:
        series(tree, patches, files, args.series)
        return
    write(tree.path, tree, tree.changed, set(tree.changed))
    print(f"{len(tree.changed)} files: AF_SHUFFLE is {number} in {tree.path}")


if __name__ == "__main__":
    try:
        main()
    except Failed as e:
        sys.exit(f"in_tree.py: {e}")
