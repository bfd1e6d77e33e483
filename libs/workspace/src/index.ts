export { readService, services, type Service } from './services.ts';
