# The image of solarmirror: one static program and the directory it works in, nothing else; no shell, no package.
# How to run it: README.md, "Run in a container".
#
#   docker build -t solarmirror --build-arg VERSION=v1.2.3 --build-arg REVISION="$(git rev-parse HEAD)" \
#     --build-arg TIME="$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)" .

# The compiler runs on the builder's own machine, whatever the image is for.
FROM --platform=$BUILDPLATFORM docker.io/library/golang:1.26 AS build
WORKDIR /src
COPY . .
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION="(devel)"
ARG REVISION
ARG TIME
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
        -ldflags "-s -w -X 'solarmirror/cmd/internal/buildinfo.linkedVersion=$VERSION' -X 'solarmirror/cmd/internal/buildinfo.linkedRevision=$REVISION' -X 'solarmirror/cmd/internal/buildinfo.linkedTime=$TIME'" \
        -o /image/solarmirror ./cmd/solarmirror
# A new volume takes over owner and mode of the directory it is mounted on. Group 0 may write as well, since some clusters
# (OpenShift) run every container as a user of their choice, in that group.
RUN install -d -m 0775 -o 65532 -g 0 /image/data /image/data/published \
    && install -m 0644 LICENSE /image/LICENSE

FROM scratch
ARG VERSION="(devel)"
ARG REVISION
LABEL org.opencontainers.image.title="solarmirror" \
      org.opencontainers.image.description="Mirrors a solar sales platform into one SQLite file for BI" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /image/ /
# The paths of the configuration's defaults (data/mirror/...) start here, so everything the program keeps is in /data, and a
# configuration file may be mounted as /config.toml.
WORKDIR /
# Sorts and dry runs that do not fit into memory; the root file system may be read-only.
ENV TMPDIR=/data
# Who may reach the status page is decided where the port is published.
ENV SOLARMIRROR_HTTP_LISTEN=:8480
EXPOSE 8480
VOLUME /data
USER 65532:65532
# "run" answers within 5 seconds, or is stuck. Other commands have nobody to ask: turn the check off for them.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 CMD ["/solarmirror", "healthcheck"]
ENTRYPOINT ["/solarmirror"]
CMD ["run"]
