# A node in a container:
#
#   docker build -t wats .
#   docker run --rm -v wats:/data wats init
#   docker run -d --name wats -v wats:/data wats
#   docker exec wats wats status
#
# That node listens on the loopback of its container alone; commands reach it by its socket. For clients from outside the
# container it needs a token, which lies in the volume because only its owner may read it, and another address
# (docs/OPERATING.md). Here the port is open to the host alone:
#
#   docker run --rm -v wats:/data --entrypoint sh wats -c 'umask 077; head -c 24 /dev/urandom | base64 >/data/token'
#   docker run -d --name wats -v wats:/data -p 127.0.0.1:7878:7878 \
#       -e WATS_LISTEN=0.0.0.0:7878 -e WATS_TOKEN_FILE=token wats

# The oldest Rust that compiles wats, as Cargo.toml says.
ARG RUST=1.95.0

FROM rust:${RUST}-slim-trixie AS build
ARG RUST
# rust-toolchain.toml names the newest stable toolchain, which would be installed beside this one.
ENV RUSTUP_TOOLCHAIN=${RUST}
RUN apt-get update \
    && apt-get install -y --no-install-recommends build-essential libclang-dev git python3 \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/target \
    CARGO_TARGET_DIR=/target scripts/dist --out /dist \
    && mkdir /wats \
    && tar -xzf "$(ls /dist/wats-*.tar.gz | grep -v -- -debug)" -C /wats --strip-components=1

FROM debian:trixie-slim
RUN useradd --system --home-dir /data --shell /usr/sbin/nologin wats \
    && install -d -o wats -g wats -m 700 /data
COPY --from=build /wats/bin /usr/local/bin
COPY --from=build /wats/LICENSE-MIT /wats/LICENSE-APACHE /wats/LICENSES-THIRD-PARTY /usr/share/doc/wats/
USER wats
ENV WATS_DIR=/data
VOLUME /data
EXPOSE 7878
STOPSIGNAL SIGTERM
# A node that reads its store answers already. `failure` names what broke, as /healthz does.
HEALTHCHECK --interval=30s --timeout=5s --start-period=1m CMD wats status --json | grep -q '"failure":null'
ENTRYPOINT ["wats"]
CMD ["node"]
