#!/usr/bin/env node
// IDs in Node.js, with its own http module.
//
// A number of JavaScript is a double: above 2^53 JSON.parse() turns an ID into another one, without a word. So IDs are asked for as
// strings (format=string) and kept as BigInt.
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const socketPath = process.env.NEXT_ID_SOCKET ?? '/run/next-id/next-id.sock';

export async function nextIds(count) {
    const path = `/next-id?format=string&count=${count}`;
    const request = http.get({ socketPath, path, signal: AbortSignal.timeout(5000) });
    const [response] = await once(request, 'response');
    const answer = await json(response);
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${answer.msg}: ${answer.error ?? ''}`);
    return answer.data.ids.map(BigInt);
}

export async function nextId() {
    return (await nextIds(1))[0];
}

if (import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
    try {
        console.log(`id ${await nextId()}`);
        console.log(`ids ${(await nextIds(3)).join(' ')}`);
    } catch (error) {
        console.error(`no ID from ${socketPath}: ${error.message}`);
        process.exitCode = 1;
    }
}
