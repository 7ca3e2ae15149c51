// What every page does: times stay true, and the page knows whether it still hears the server.
import {keepTimes} from "./times.js";
import "./keys.js";
import "./live.js";

keepTimes(document);
