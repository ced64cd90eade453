# Toolgate in a container. The second half of docs/deployment.md explains every choice made here.
#
#   docker build -t toolgate .
#   docker run --user "$(id -u):$(id -g)" -p 127.0.0.1:8765:8765 -v "$PWD":/workspace toolgate

FROM rust:1.95-bookworm AS build
# dist: thin LTO, one codegen unit, stripped. "release" builds in half the time.
ARG PROFILE=dist
WORKDIR /src
# Dependencies first: they are built again only when the lock file changes.
COPY Cargo.toml Cargo.lock ./
RUN mkdir -p src benches tests \
 && printf 'fn main() {}\n' > src/main.rs \
 && cp src/main.rs benches/ratios.rs \
 && touch src/lib.rs tests/otel.rs \
 && cargo build --locked --profile "$PROFILE" \
 && rm -r src benches
COPY benches benches
COPY src src
# Touched, so that they are newer than what was built from the empty ones.
RUN touch src/main.rs src/lib.rs \
 && cargo build --locked --profile "$PROFILE" \
 && install -D "${CARGO_TARGET_DIR:-target}/$PROFILE/toolgate" /out/toolgate

FROM debian:bookworm-slim
# bash and git are what agents' commands use first; bubblewrap is the floor where the kernel has no
# Landlock; tini reaps what a command leaves to process 1.
# No pinned versions: what counts is the security updates of the day.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash bubblewrap ca-certificates git tini \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/toolgate /usr/local/bin/toolgate
# For any uid that --user names: Toolgate makes its data directory in /var/lib/toolgate by itself,
# for its uid alone, and refuses one that others may enter. The sticky bit keeps it there.
RUN install -d -m 1777 /var/lib/toolgate /workspace /home/agent
# Every key with its default. Mount a folder over /etc/toolgate to bring your own, watched for changes.
COPY config/default.json /etc/toolgate/config.json
ENV HOME=/home/agent \
    TOOLGATE_SERVER__LISTEN=0.0.0.0:8765 \
    TOOLGATE_DATA_DIR=/var/lib/toolgate/data \
    TOOLGATE_WORKSPACE_ROOTS='["/workspace"]' \
    TOOLGATE_CONFIG=/etc/toolgate/config.json
USER 10001:10001
WORKDIR /workspace
EXPOSE 8765
VOLUME ["/var/lib/toolgate"]
# Sent once; toolgate ends what runs and leaves within ten seconds.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=6s --start-period=5s --retries=3 CMD ["toolgate", "health"]
ENTRYPOINT ["tini", "--", "toolgate"]
CMD ["serve"]
