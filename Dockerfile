# A node in a container:
#
#   docker build -t wats .
#   docker run --rm -v wats:/data wats init
#   docker run -d --name wats -v wats:/data wats
#   docker exec wats wats status
#
# The node listens on the loopback of its container. To let others in, give it a token and an address (docs/OPERATING.md):
#
#   docker run -d -v wats:/data -v ./token:/run/token:ro -p 127.0.0.1:7878:7878 wats \
#       node --listen 0.0.0.0:7878 --token-file /run/token

FROM rust:1.95-slim-trixie AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends build-essential libclang-dev git \
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
COPY --from=build /wats/bin/wats /usr/local/bin/wats
COPY --from=build /wats/LICENSE-MIT /wats/LICENSE-APACHE /usr/share/doc/wats/
USER wats
ENV WATS_DIR=/data
VOLUME /data
EXPOSE 7878
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10m CMD ["wats", "status", "--json"]
ENTRYPOINT ["wats"]
CMD ["node"]
