# The image server, installed from its Debian package. It is not root, and needs keys and sources:
#
#   docker build --tag halcyon-server .
#   docker run --publish 8080:8080 --volume ~/Pictures:/srv/pictures:ro --env HALCYON_SOURCES_LOCAL_ROOT=/srv/pictures \
#       --env HALCYON_SIGNATURE_KEYS="$(openssl rand -hex 32)" --env HALCYON_SIGNATURE_SALTS="$(openssl rand -hex 32)" \
#       halcyon-server
#
# docs/server has examples for Compose and Kubernetes.

FROM swift:6.2-bookworm AS build
WORKDIR /halcyon
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# What the build needs, before the sources: a layer that is kept when they change.
COPY scripts/setup.sh scripts/
RUN source scripts/setup.sh \
    && require_packages "${build_packages[@]}" "${gtk_packages[@]}" "${package_packages[@]}"
COPY . .
RUN scripts/package-debian

FROM debian:bookworm-slim
COPY --from=build /halcyon/.build-package/bookworm/halcyon-server_*.deb /tmp/
# The account has a number, which Kubernetes wants; it needs no systemd. Keys are not to be those of an image.
# hadolint ignore=DL3008
RUN groupadd --system --gid 900 halcyon \
    && useradd --system --uid 900 --gid 900 --home-dir /var/cache/halcyon halcyon \
    && apt-get update \
    && apt-get install --yes --no-install-recommends \
        systemd-standalone-sysusers ca-certificates fonts-dejavu-core /tmp/*.deb \
    && rm -rf /var/lib/apt/lists/* /tmp/*.deb /etc/halcyon/keys \
    && install -d -o halcyon -g halcyon /var/cache/halcyon
ENV MALLOC_ARENA_MAX=2 \
    HALCYON_BIND=0.0.0.0:8080 \
    HALCYON_CACHE_DIRECTORY=/var/cache/halcyon
USER 900:900
# A new volume takes its owner from here.
VOLUME /var/cache/halcyon
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["halcyon-server", "health"]
ENTRYPOINT ["halcyon-server"]
