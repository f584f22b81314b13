"""The servers that are compared, each with what the others have: no caches, a quality of 80, every core."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

from cluster import listens, wait_until
from origin import closed_port
from processes import memory, processor_seconds

CORES = len(os.sched_getaffinity(0))
FILTER = pathlib.Path("/usr/lib/nginx/modules/ngx_http_image_filter_module.so")
# Beside 127.0.0.1, so that what limits requests to one host takes it for another.
ORIGIN_HOST = "127.0.0.2"


class Server:
    """A program that answers over HTTP, and ends together with its workers."""

    host = "127.0.0.1"

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.port = closed_port()
        self.process = None

    def command(self):
        raise NotImplementedError

    def refuses(self, row):
        """Why it cannot make the pictures of a row; `None` when it can."""

    def __enter__(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [str(word) for word in self.command()], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, env=dict(os.environ, HOME=str(self.folder)))
        try:
            wait_until(self.is_up, 30, self.name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def is_up(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} has ended: {(self.folder / 'log').read_text()[-2000:]}")
        return listens(self.port, self.host)

    def __exit__(self, *_):
        # Workers outlive a parent that is killed alone.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def seconds(self):
        return processor_seconds(self.process.pid)

    def resident(self):
        return memory(self.process.pid)

    def peak(self):
        return memory(self.process.pid, "VmHWM")


class Halcyon(Server):
    name = "Halcyon"

    # And with as much time for an answer as the others take.
    UNCACHED = ("cache.results.bytes=0", "cache.results.memoryBytes=0", "cache.sources.bytes=0",
                "cache.sources.memoryBytes=0", "work.requestTimeout=600")

    def __init__(self, folder, program, pictures, origin_ports=(), settings=UNCACHED):
        super().__init__(folder)
        self.program, self.pictures = program, pictures
        self.settings = ["sources.http.allowLoopback=true", "sources.http.allow=*",
                         "log.level=error", *settings]
        if origin_ports:
            self.settings.append("sources.http.ports=" + ",".join(map(str, origin_ports)))

    def command(self):
        return [self.program, "--unsigned", "--bind", f"127.0.0.1:{self.port}", "--ops-bind", "off",
                "--local-root", self.pictures, "--cache-directory", self.folder / "cache",
                *(f"--set={setting}" for setting in self.settings)]

    def target(self, row, width, file, url):
        quality = f"/q:{row.quality}" if row.quality else ""
        return f"/_/w:{width}{quality}/plain/{url or 'local:///' + file}@{row.result}"


class Thumbor(Server):
    name = "thumbor"

    def __init__(self, folder, pictures, settings=()):
        super().__init__(folder)
        (self.folder / "thumbor.conf").write_text("\n".join([
            "SECURITY_KEY = 'unused'", "ALLOW_UNSAFE_URL = True",
            "LOADER = 'thumbor.loaders.file_loader_http_fallback'",
            f"FILE_LOADER_ROOT_PATH = {str(pictures)!r}", "STORAGE = 'thumbor.storages.no_storage'",
            "RESULT_STORAGE = None", "MAX_PIXELS = 2e8", "QUALITY = 80", "WEBP_QUALITY = 79",
            "AVIF_QUALITY = 63", "PROGRESSIVE_JPEG = False", *settings]) + "\n")

    @staticmethod
    def missing():
        program = pathlib.Path(sys.executable).with_name("thumbor")
        return None if program.exists() else "its package is not installed"

    def command(self):
        return [pathlib.Path(sys.executable).with_name("thumbor"), "-i", "127.0.0.1", "-p", self.port,
                "-c", self.folder / "thumbor.conf", "-l", "error", "--processes", CORES]

    def target(self, row, width, file, url):
        conversion = f"filters:format({row.result})/" if row.converts else ""
        return f"/unsafe/{width}x0/{conversion}{url or file}"


class Nginx(Server):
    """nginx with a configuration of its own, below `server`."""

    def __init__(self, folder, locations, host="127.0.0.1", modules=""):
        super().__init__(folder)
        self.host = host
        paths = "\n".join(f"{name}_temp_path {self.folder}/{name};"
                          for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;" if os.geteuid() == 0 else ""
        (self.folder / "nginx.conf").write_text(f"""
            {modules} {user} daemon off; worker_processes {CORES};
            pid {self.folder}/nginx.pid; error_log {self.folder}/nginx.log;
            events {{ worker_connections 4096; }}
            http {{
                access_log off; {paths}
                server {{ listen {host}:{self.port} reuseport; {locations} }}
            }}""")

    def command(self):
        return ["nginx", "-p", self.folder, "-c", self.folder / "nginx.conf"]


class FileServer(Nginx):
    """The files of a folder as they are, each under any number: `/NUMBER/NAME`."""

    name = "nginx"

    def __init__(self, folder, pictures, host="127.0.0.1"):
        super().__init__(folder, f"location ~ ^/[0-9]+/(.+)$ {{ alias {pictures}/$1; }}", host)

    def url(self, number, name):
        return f"http://{self.host}:{self.port}/{number}/{name}"


class ImageFilter(Nginx):
    name = "nginx image_filter"

    def __init__(self, folder, pictures):
        work = ("image_filter resize $width -; image_filter_buffer 32M; image_filter_jpeg_quality 80; "
                "image_filter_webp_quality 79;")
        super().__init__(folder, f"""
            location ~ ^/(?<width>[0-9]+)/file/(?<name>.+)$ {{ alias {pictures}/$name; {work} }}
            location ~ ^/(?<width>[0-9]+)/url/(?<address>[0-9.:]+)/(?<name>.+)$ {{
                proxy_pass http://$address/$name; {work}
            }}""", modules=f"load_module {FILTER};")

    @staticmethod
    def missing():
        if shutil.which("nginx") is None:
            return "nginx is not installed"
        return None if FILTER.exists() else "libnginx-mod-http-image-filter is not installed"

    def refuses(self, row):
        if row.converts:
            return "it keeps the format of the source"
        return "it does not read AVIF" if row.result == "avif" else None

    def target(self, row, width, file, url):
        return f"/{width}/url/{url.removeprefix('http://')}" if url else f"/{width}/file/{file}"
