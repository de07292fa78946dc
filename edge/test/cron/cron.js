// Runs the worker's cron trigger for /cron; other requests go to the worker.

export default {
  async fetch(request, { EDGE }) {
    if (!request.url.endsWith("/cron")) return EDGE.fetch(request);
    return Response.json(await EDGE.scheduled({ cron: "17 */6 * * *", scheduledTime: new Date() }));
  },
};
