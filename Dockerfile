# The service as an image: built with everything, run with what it needs, by a user who owns nothing.
FROM node:24.11-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev

FROM node:24.11-bookworm-slim
ENV NODE_ENV=production SERVICE_HOST=0.0.0.0 SERVICE_PORT=8080 SERVICE_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/build/src ./build/src
# The compiler copies no style sheets: the pages' are read where they were written.
COPY --from=build /app/src/http/pages/assets ./src/http/pages/assets
# Where the embedded engine keeps its data; with servers as engines nothing is written here.
RUN install -d -o node -g node -m 0700 /data
VOLUME /data
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=6 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+process.env.SERVICE_PORT+'/readyz').then(({ok})=>process.exit(ok?0:1),()=>process.exit(1))"]
CMD ["node", "--enable-source-maps", "build/src/main.js"]
